import type { Beat, Row, RowKind } from "../wire.ts";
import type { RowRef } from "./change-log.ts";

/** A reader that has more than this waiting is too slow, and reads its rows again. */
const maxWaitingBytes = 256 * 1_024;

/** One change of rows, encoded once for all viewers of the same kinds. */
export class ChangeBatch {
  readonly #version: string;
  readonly #changed = new Map<RowKind, string[]>();
  readonly #removed = new Map<RowKind, string[]>();
  readonly #frames = new Map<string, Uint8Array | undefined>();

  /** `find` returns the row, or undefined if it is gone. */
  constructor(version: string, refs: Iterable<RowRef>, find: (ref: RowRef) => Row | undefined) {
    this.#version = version;
    for (const ref of refs) {
      const row = find(ref);
      const list = row ? this.#changed : this.#removed;
      const texts = list.get(ref.kind) ?? [];
      list.set(ref.kind, texts);
      texts.push(JSON.stringify(row ?? ref));
    }
  }

  /** The event for a viewer of `kinds`; undefined if none of their rows changed. */
  frame(kinds: readonly RowKind[]): Uint8Array | undefined {
    const id = kinds.join();
    if (!this.#frames.has(id)) this.#frames.set(id, this.#encode(kinds));
    return this.#frames.get(id);
  }

  #encode(kinds: readonly RowKind[]): Uint8Array | undefined {
    const changed = kinds.flatMap((kind) => this.#changed.get(kind) ?? []);
    const removed = kinds.flatMap((kind) => this.#removed.get(kind) ?? []);
    if (changed.length + removed.length === 0) return undefined;
    return frame("changes", `{"changed":[${changed}],"removed":[${removed}]}`, this.#version);
  }
}

/** The event that makes a page read its rows again. */
export function resetFrame(version: string): Uint8Array {
  return frame("reset", "{}", version);
}

/** `version` is absent while changes are on their way that no viewer has yet. */
export function beatFrame(beat: Beat, version?: string): Uint8Array {
  return frame("beat", JSON.stringify(beat), version);
}

/** JSON has no line ends of its own, so one line is enough. */
function frame(event: string, data: string, version?: string): Uint8Array {
  const id = version === undefined ? "" : `id: ${version}\n`;
  return Buffer.from(`${id}event: ${event}\ndata: ${data}\n\n`);
}

/** One reader of the stream. What it has not read yet is limited. */
export class Viewer {
  readonly kinds: readonly RowKind[];
  /** False until it has what it missed: changes before that are part of it. */
  isCaughtUp = false;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #wake: (() => void) | undefined;
  #isEnded = false;

  constructor(kinds: readonly RowKind[]) {
    this.kinds = kinds;
  }

  /** Adds an event; if too much is waiting, all of it is replaced by `reset`. */
  send(event: Uint8Array, reset: () => Uint8Array): void {
    const isTooSlow = this.#bytes + event.length > maxWaitingBytes && this.#waiting.length > 0;
    if (isTooSlow) this.#drop();
    this.#add(isTooSlow ? reset() : event);
  }

  /** Adds an event that a reader does not need while others are waiting. */
  sendIfIdle(event: Uint8Array): void {
    if (this.#waiting.length === 0) this.#add(event);
  }

  #add(event: Uint8Array) {
    this.#waiting.push(event);
    this.#bytes += event.length;
    this.#wake?.();
  }

  #drop() {
    this.#waiting = [];
    this.#bytes = 0;
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** The events, as they come, until `end`. */
  async *events(): AsyncGenerator<Uint8Array> {
    while (!this.#isEnded) {
      const event = this.#waiting.shift();
      if (event) {
        this.#bytes -= event.length;
        yield event;
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
