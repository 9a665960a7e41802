import type { Event } from "../api/watch.ts";
import type { Entry } from "../object-store.ts";

/**
 * Encoded events: watchers of the same events share the same bytes. Only the latest are kept,
 * because all watchers get one change before the next.
 */
export class WatchFrames {
  #entry: Entry | undefined;
  #frames = new Map<Event["type"], Buffer>();

  of({ type, entry }: Event): Buffer {
    if (this.#entry !== entry) {
      this.#entry = entry;
      this.#frames = new Map();
    }
    const known = this.#frames.get(type);
    if (known) return known;
    const frame = Buffer.from(`{"type":"${type}","object":${entry.json}}\n`);
    this.#frames.set(type, frame);
    return frame;
  }
}
