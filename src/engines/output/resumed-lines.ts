/**
 * Removes the lines of a container's log that were printed before its stream was opened again. The server continues from
 * a whole second, so it repeats lines; several lines may have the same time.
 */
export class ResumedLines {
  /** The time of the last line, and the number of lines with this time. */
  #last: { readonly at: string; readonly lines: number } | undefined;
  /** Lines with the time of the last one that are still to be skipped. */
  #repeated = 0;

  /** The time from which the next stream has to start; undefined before the first line. */
  get sinceTime(): string | undefined {
    return this.#last && `${this.#last.at.slice(0, 19)}Z`;
  }

  /** Has to be called before each new stream. */
  reopen(): void {
    this.#repeated = this.#last?.lines ?? 0;
  }

  /** Returns the text of a line without its time; undefined if the line was printed before. */
  take(line: string): string | undefined {
    const [, time = "", text = line] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)Z ?(.*)$/s.exec(line) ?? [];
    // A part of a long line has no time: it belongs to the line before it.
    if (time === "") return this.#repeated > 0 ? undefined : line;
    const at = toComparable(time);
    if (this.#last && at < this.#last.at) return undefined;
    if (at === this.#last?.at) {
      if (this.#repeated > 0) {
        this.#repeated--;
        return undefined;
      }
      this.#last = { at, lines: this.#last.lines + 1 };
      return text;
    }
    this.#repeated = 0;
    this.#last = { at, lines: 1 };
    return text;
  }
}

/** Adds the trailing zeros of the fraction, which kubelets omit. */
function toComparable(time: string): string {
  const [seconds = "", fraction = ""] = time.split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
