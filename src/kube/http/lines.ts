const newline = 0x0a;

/** Splits a stream of bytes into lines, wherever the chunks were cut: inside a line or inside a character. */
export class Lines {
  readonly #maxBytes: number;
  #begun: Buffer[] = [];
  #begunBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the last line is still without its end. */
  get isInsideLine(): boolean {
    return this.#begunBytes > 0;
  }

  /** The lines that end in `chunk`, empty ones left out. Throws a RangeError for one that is too long. */
  *take(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      const line = this.#begun.length === 1 ? this.#begun[0] : Buffer.concat(this.#begun);
      this.#begun = [];
      this.#begunBytes = 0;
      if (line?.length) yield line.toString();
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer) {
    if (part.length === 0) return;
    this.#begunBytes += part.length;
    if (this.#begunBytes > this.#maxBytes) throw new RangeError(`a line of more than ${this.#maxBytes} bytes`);
    this.#begun.push(part);
  }
}
