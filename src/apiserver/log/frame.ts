import { crc32 } from "node:zlib";

/**
 * Everything on disk is frames:
 *
 *     magic u32 │ checksum u32 │ length u32 │ kind u8, 3 × 0 │ payload of that length
 *
 * little-endian; the checksum is CRC-32 of all that follows it. A frame is there completely or not at all.
 */
export const headerBytes = 16;

/** FE and FF do not occur in UTF-8: no text in a payload looks like the start of a frame. */
export const magic = Buffer.from([0xfe, 0x49, 0x4c, 0xff]);
const magicNumber = magic.readUInt32LE();

/** The content of a frame: the heading of the file, changes of objects, or the end of a snapshot. */
export type FrameKind = "heading" | "changes" | "end";
const kinds: readonly FrameKind[] = ["heading", "changes", "end"];

export interface Frame {
  readonly kind: FrameKind;
  /** Valid until the next frame is read. */
  readonly payload: Buffer;
}

/** The length of the payload by its header; undefined if the bytes are not a header. */
export function payloadLength(header: Buffer): number | undefined {
  return header.readUInt32LE(0) === magicNumber ? header.readUInt32LE(8) : undefined;
}

/** The frame in `bytes`, or undefined if they are damaged. */
export function readFrame(bytes: Buffer): Frame | undefined {
  if (crc32(bytes.subarray(8)) !== bytes.readUInt32LE(4)) return undefined;
  const kind = kinds[bytes.readUInt8(12)];
  return kind && { kind, payload: bytes.subarray(headerBytes) };
}

const initialBytes = 64 * 1024;
/** The memory of a larger batch is released. */
const keptBytes = 4 * 1024 * 1024;

/** Builds one frame after the other in the same memory: a frame is valid until the next `start`. */
export class FrameBuilder {
  #bytes = Buffer.allocUnsafe(initialBytes);
  #end = headerBytes;

  /** Of the frame so far. */
  get size(): number {
    return this.#end;
  }

  start(kind: FrameKind): void {
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafe(initialBytes);
    this.#bytes.writeUInt32LE(magicNumber, 0);
    this.#bytes.writeUInt32LE(kinds.indexOf(kind), 12);
    this.#end = headerBytes;
  }

  /** Any whole number that a `number` holds exactly is less than 2^53; a store that counts to 2^48 is 1,000 years old. */
  addNumber(value: number): void {
    this.#makeRoom(6);
    this.#end = this.#bytes.writeUIntLE(value, this.#end, 6);
  }

  addText(text: string): void {
    // A character of a JavaScript string becomes at most 3 bytes.
    this.#makeRoom(4 + 3 * text.length);
    const length = this.#bytes.write(text, this.#end + 4);
    this.#bytes.writeUInt32LE(length, this.#end);
    this.#end += 4 + length;
  }

  finish(): Buffer {
    const frame = this.#bytes.subarray(0, this.#end);
    frame.writeUInt32LE(this.#end - headerBytes, 8);
    frame.writeUInt32LE(crc32(frame.subarray(8)), 4);
    return frame;
  }

  #makeRoom(length: number) {
    const needed = this.#end + length;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Reads the fields that a builder added, in the same order. */
export class PayloadReader {
  readonly #payload: Buffer;
  #at = 0;

  constructor(payload: Buffer) {
    this.#payload = payload;
  }

  get atEnd(): boolean {
    return this.#at === this.#payload.length;
  }

  number(): number {
    this.#at += 6;
    return this.#payload.readUIntLE(this.#at - 6, 6);
  }

  text(): string {
    const start = this.#at + 4;
    this.#at = start + this.#payload.readUInt32LE(this.#at);
    return this.#payload.toString("utf8", start, this.#at);
  }
}

/** A frame with a JSON value, readable in a hex viewer. */
export function jsonFrame(kind: FrameKind, value: object): Buffer {
  const builder = new FrameBuilder();
  builder.start(kind);
  builder.addText(JSON.stringify(value));
  return builder.finish();
}

/** The value of a frame that `jsonFrame` made. */
export function readJsonFrame({ payload }: Frame): unknown {
  return JSON.parse(new PayloadReader(payload).text());
}
