// Undo and redo of everything that the producer does to the script, newest first.

const MOST = 300;
const SAME_TYPING_MS = 1500;

export class History extends EventTarget {
  constructor(project) {
    super();
    this.done = [];
    this.undone = [];
    project.addEventListener("did", ({ detail }) => this.#record(detail));
  }

  undo() {
    return this.#walk(this.done, this.undone, "undo");
  }

  redo() {
    return this.#walk(this.undone, this.done, "redo");
  }

  // Everything that `work` does becomes one step.
  group(words, work) {
    const outer = this.grouping;
    this.grouping = outer ?? [];
    try {
      work();
    } finally {
      const steps = this.grouping;
      this.grouping = outer;
      if (!outer && steps.length) {
        this.#push({
          words,
          undo: () => steps.toReversed().forEach((step) => step.undo()),
          redo: () => steps.forEach((step) => step.redo()),
        });
      }
    }
  }

  #record(step) {
    if (this.walking) return;
    if (this.grouping) return this.grouping.push(step);
    const last = this.done.at(-1);
    const now = performance.now();
    if (step.key && last?.key === step.key && now - last.at < SAME_TYPING_MS) {
      last.step.after = step.step.after; // one step for a stretch of typing
      last.at = now;
      this.undone = [];
      return;
    }
    this.#push({ ...step, at: now });
  }

  #push(step) {
    this.done.push(step);
    if (this.done.length > MOST) this.done.shift();
    this.undone = [];
    this.dispatchEvent(new Event("change"));
  }

  #walk(from, to, way) {
    const step = from.pop();
    if (!step) return null;
    this.walking = true;
    try {
      step[way]();
    } finally {
      this.walking = false;
    }
    to.push(step);
    this.dispatchEvent(new Event("change"));
    return step.words;
  }
}
