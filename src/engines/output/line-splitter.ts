/** A longer line is printed in parts, so that a stream without any line break needs no more memory than this. */
const maxLineBytes = 1_024 * 1_024;

/** Splits a stream of bytes into lines. A chunk can end inside a line or inside a character. */
export class LineSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the lines that end in `chunk`, without line breaks. */
  take(chunk: Buffer): readonly string[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(0x0a);
    const lines = end < 0 ? [] : bytes.toString("utf8", 0, end).split("\n");
    const rest = bytes.subarray(end + 1);
    const begun = rest.length > maxLineBytes ? wholeCharacters(rest) : 0;
    this.#rest = Buffer.from(rest.subarray(begun));
    return begun === 0 ? lines : [...lines, rest.toString("utf8", 0, begun)];
  }

  /** Returns the last line if it has no line break. */
  end(): readonly string[] {
    const rest = this.#rest.toString("utf8");
    this.#rest = Buffer.alloc(0);
    return rest === "" ? [] : [rest];
  }
}

/** Returns the number of bytes before the last character, which may be incomplete. */
function wholeCharacters(bytes: Buffer): number {
  let end = bytes.length - 1;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
