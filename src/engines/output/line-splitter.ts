/** Splits a stream of bytes into lines, wherever its chunks end: inside a line or inside a character. */
export class LineSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** The lines that end in `chunk`, without their ends. */
  take(chunk: Buffer): readonly string[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(0x0a);
    if (end < 0) {
      this.#rest = bytes;
      return [];
    }
    this.#rest = Buffer.from(bytes.subarray(end + 1));
    return bytes.toString("utf8", 0, end).split("\n");
  }

  /** The last line, if it has no end. */
  end(): readonly string[] {
    const rest = this.#rest.toString("utf8");
    this.#rest = Buffer.alloc(0);
    return rest === "" ? [] : [rest];
  }
}
