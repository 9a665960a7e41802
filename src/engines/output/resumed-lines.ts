/**
 * Removes the lines of a container's log that were printed before its stream was opened again. The server continues from
 * a whole second, so it repeats lines; several lines may have the same time.
 */
export class ResumedLines {
  /** The time of the last line, and the number of lines with this time. */
  #last: { readonly at: string; readonly lines: number } | undefined;
  /** Lines with the time of the last one that are still to be skipped. */
  #repeated = 0;

  /** From when the stream has to be opened; undefined at first. */
  get sinceTime(): string | undefined {
    return this.#last && `${this.#last.at.slice(0, 19)}Z`;
  }

  /** Has to be called whenever the stream is opened again. */
  reopen(): void {
    this.#repeated = this.#last?.lines ?? 0;
  }

  /** The text of a line without its time; undefined for one that was printed before. */
  take(line: string): string | undefined {
    const [, time = "", text = line] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)Z ?(.*)$/s.exec(line) ?? [];
    // Without a time, as part of a longer line may be, it belongs to the line before it.
    if (time === "") return this.#repeated > 0 ? undefined : line;
    const at = comparable(time);
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

/** Kubelets leave out trailing zeros of the fraction. */
function comparable(time: string): string {
  const [seconds = "", fraction = ""] = time.split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
