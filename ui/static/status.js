// What is going on with a line, in words. Colours only repeat what the words say.

// `fault`: why the whole run ended; the run bar says it once, so its rows do not.
export function statusOf(line, part, fault) {
  const takes = line.made ?? [];
  const current = takes.some((take) => !take.old);
  if (line.state === "running") return { kind: "running", words: part ? `speaking ${part} %` : "speaking", busy: true };
  if (line.state === "queued") return { kind: "queued", words: "waiting", busy: true };
  if (line.state === "failed") return { kind: "failed", words: "failed", why: line.why === fault ? undefined : line.why };
  if (!line.text.trim()) return { kind: "empty", words: "no text" };
  const warning = takes.findLast?.((take) => !take.old)?.warn;
  if (line.state === "stopped" && !current) return { kind: "stopped", words: "stopped", why: line.why };
  if (current) return { kind: warning ? "warned" : "done", words: warning ? "done, look" : "done", why: warning };
  if (takes.length) return { kind: "changed", words: "changed since" };
  return { kind: "pending", words: "pending" };
}

// What “Generate pending” speaks, the filter shows and both count: what failed waits for its own button,
// or for a change of the line.
export function isPending(line) {
  if (isBusy(line) || line.state === "failed") return false;
  return Boolean(line.text.trim()) && !(line.made ?? []).some((take) => !take.old);
}

export function isBusy(line) {
  return line.state === "queued" || line.state === "running";
}
