/** Tells when something may be done that is to be done now and then at most, such as logging a flood. */
export class Occasionally {
  readonly #everyMs: number;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  isDue(nowMs: number): boolean {
    if (nowMs - this.#lastAt < this.#everyMs) return false;
    this.#lastAt = nowMs;
    return true;
  }
}
