// Requests to the studio's own routes. Every failure becomes an Error whose message is for people.

// Final: the project is not here any more; the server could not read what was sent. Everything else may
// pass, above all what a proxy in between answers: it is tried again.
export class Gone extends Error {}
export class Refused extends Error {}

// Gradio knows the path that it is served under; scheme and host are the page's own, which a proxy in
// between may not have told it rightly.
const root = () => {
  const path = new URL(window.gradio_config?.root ?? ".", location.href).pathname;
  return `${location.origin}${path.replace(/\/$/, "")}/`;
};

export class Api {
  constructor(token) {
    this.token = token;
  }

  about() {
    return this.#ask("studio/about");
  }

  changes(after) {
    return this.#ask(`studio/changes?after=${after}`);
  }

  edits(after, edits, { leaving = false } = {}) {
    return this.#post("studio/edits", { after, edits }, { keepalive: leaving });
  }

  run(which, { ids = [], takes = null } = {}) {
    return this.#post("studio/run", { which, ids, takes });
  }

  stop(ids = null) {
    return this.#post("studio/stop", { ids });
  }

  project(body) {
    return this.#post("studio/project", body);
  }

  check(ids) {
    return this.#post("studio/check", { ids });
  }

  ahead() {
    return this.#ask("studio/ahead");
  }

  takes(line) {
    return this.#ask(`studio/takes/${line}`);
  }

  listen(take) {
    return this.#post(`studio/listen/${take}`, {});
  }

  voicing() {
    return this.#ask("studio/voicing");
  }

  script(fileOrText) {
    const form = new FormData();
    form.append("script", fileOrText);
    return this.#ask("studio/script", { method: "POST", body: form });
  }

  async peaks(take) {
    const answer = await this.#fetch(`studio/peaks/${take}`, {});
    return new Uint8Array(await answer.arrayBuffer());
  }

  voice(file, name, consent) {
    const form = new FormData();
    form.append("clip", file, file.name);
    form.append("name", name);
    form.append("consent", consent ? "yes" : "no");
    return this.#ask("studio/voices", { method: "POST", body: form });
  }

  changeVoice(body) {
    return this.#post("studio/voices/change", body);
  }

  async testVoice(name) {
    const headers = { "content-type": "application/json" };
    const answer = await this.#fetch("studio/voices/test", { method: "POST", body: JSON.stringify({ name }), headers });
    return answer.blob();
  }

  address(path) {
    return root() + path;
  }

  takeAddress(take) {
    return this.address(`studio/take/${encodeURIComponent(this.token)}/${take}.wav`);
  }

  downloadAddress(take) {
    return this.address(`studio/download/${encodeURIComponent(this.token)}/${take}`);
  }

  #post(path, body, options = {}) {
    const headers = { "content-type": "application/json" };
    return this.#ask(path, { method: "POST", body: JSON.stringify(body, wellFormed), headers, ...options });
  }

  async #ask(path, options = {}) {
    return (await this.#fetch(path, options)).json();
  }

  async #fetch(path, options) {
    const headers = { ...options.headers, "x-studio-project": this.token };
    let answer;
    try {
      answer = await fetch(root() + path, { ...options, headers });
    } catch {
      throw new Error("The studio does not answer. Your changes are kept here and sent when it is back.");
    }
    if (answer.ok) return answer;
    const { error, studio } = await answer.json().catch(() => ({}));
    if (!studio) throw new Error(`The studio answered with fault ${answer.status}.`);
    if (answer.status === 404) throw new Gone(error);
    if ([400, 413].includes(answer.status)) throw new Refused(error);
    throw new Error(error);
  }
}

// Half a character, as some keyboards and pastes leave it behind, cannot be sent.
function wellFormed(_, value) {
  return typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
}
