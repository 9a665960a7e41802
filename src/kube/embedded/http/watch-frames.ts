import type { Event } from "../api/watch.ts";
import type { Entry } from "../object-store.ts";

/** Events as they are written on the wire: the same bytes for every watcher that is told the same. */
export class WatchFrames {
  readonly #frames = new WeakMap<Entry, Map<string, Buffer>>();

  of({ type, entry }: Event): Buffer {
    let known = this.#frames.get(entry);
    if (!known) {
      known = new Map();
      this.#frames.set(entry, known);
    }
    let frame = known.get(type);
    if (!frame) {
      frame = Buffer.from(`{"type":"${type}","object":${entry.json}}\n`);
      known.set(type, frame);
    }
    return frame;
  }
}
