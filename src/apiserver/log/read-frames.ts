import { DiskError, type DiskFile } from "../../disk/index.ts";
import { type Frame, headerBytes, magic, payloadLength, readFrame } from "./frame.ts";

const windowBytes = 1024 * 1024;
const zeros = Buffer.alloc(windowBytes + magic.length - 1);

export interface FramesRead {
  /** Where the last complete frame begins and ends. */
  readonly lastFrame: number;
  readonly end: number;
  /** Something follows that is neither a complete frame nor the zeros that a log reserves: a write was cut short. */
  readonly isTorn: boolean;
}

/**
 * Calls `take` with every frame, in order. A write that a crash cut short leaves one incomplete frame at the end, because
 * each frame is durable before the next is written; so an incomplete frame with a complete one behind it is damage, and
 * continuing would lose acknowledged changes. Throws `damaged` then.
 */
export async function readFrames(
  file: DiskFile,
  path: string,
  take: (frame: Frame, at: number) => void,
): Promise<FramesRead> {
  const view = new FileView(file, await file.size());
  let lastFrame = 0;
  let end = 0;
  for (let frame = await view.frameAt(end); frame; frame = await view.frameAt(end)) {
    take(frame, end);
    lastFrame = end;
    end += headerBytes + frame.payload.length;
  }

  const { isTorn, nextFrame } = await scanRest(view, end);
  if (nextFrame !== undefined) {
    const problem = `the data there is not a frame, but a complete frame follows at byte ${nextFrame}`;
    throw new DiskError("damaged", `${path} is damaged at byte ${end}: ${problem}`);
  }
  return { lastFrame, end, isTorn };
}

async function scanRest(view: FileView, end: number): Promise<{ isTorn: boolean; nextFrame?: number }> {
  let isTorn = false;
  for (let at = end; at < view.size; at += windowBytes) {
    // The windows overlap, so that a magic across their border is found.
    const bytes = await view.bytes(at, Math.min(windowBytes + magic.length - 1, view.size - at));
    isTorn ||= !bytes.equals(zeros.subarray(0, bytes.length));
    for (const candidate of isTorn ? occurrences(bytes, at) : []) {
      if (candidate > end && (await view.frameAt(candidate))) return { isTorn, nextFrame: candidate };
    }
  }
  return { isTorn };
}

function occurrences(bytes: Buffer, offset: number): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 1)) found.push(offset + at);
  return found;
}

/** A file, read in large pieces. */
class FileView {
  readonly size: number;
  readonly #file: DiskFile;
  #window: Buffer = Buffer.alloc(0);
  #from = 0;

  constructor(file: DiskFile, size: number) {
    this.#file = file;
    this.size = size;
  }

  async frameAt(at: number): Promise<Frame | undefined> {
    if (at + headerBytes > this.size) return undefined;
    const length = payloadLength(await this.bytes(at, headerBytes));
    if (length === undefined || at + headerBytes + length > this.size) return undefined;
    return readFrame(await this.bytes(at, headerBytes + length));
  }

  /** Valid until the next call. */
  async bytes(at: number, length: number): Promise<Buffer> {
    if (at < this.#from || at + length > this.#from + this.#window.length) {
      const wanted = Math.min(Math.max(length, windowBytes), this.size - at);
      const window = this.#window.length >= wanted ? this.#window : Buffer.allocUnsafe(wanted);
      this.#window = window.subarray(0, await this.#file.read(window.subarray(0, wanted), at));
      this.#from = at;
    }
    return this.#window.subarray(at - this.#from, at - this.#from + length);
  }
}
