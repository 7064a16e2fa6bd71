// Names of downloaded takes.

export function fileStem(line, take, number) {
  const words = line.text.normalize("NFKC").replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  const parts = [String(number).padStart(3, "0"), line.name ?? line.voice, [...words].slice(0, 32).join(""), `take${take.n}`];
  return parts.filter(Boolean).join("_").replace(/[\\/:*?"<>|\s\p{C}]+/gu, "-");
}
