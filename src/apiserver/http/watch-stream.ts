import type { Resource } from "../api/resource.ts";
import type { ApiStatus } from "../api/status-error.ts";
import type { Event, Watch } from "../api/watch.ts";
import { writeJson } from "../json/json.ts";
import type { Entry } from "../object-store.ts";
import { partialMetadata, table } from "../tables/table.ts";
import type { Format } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import { tableOptions } from "./write-object.ts";

/** A watch that is this far behind, besides its initial list, is closed. Its client can watch again from its last version. */
const maxUnsentBytes = 8 * 1_024 * 1_024;

/** The response to one watch. The events of one turn of the event loop are sent together. */
export class WatchStream {
  readonly #exchange: Exchange;
  readonly #resource: Resource;
  readonly #format: Format;
  readonly #frames: WatchFrames;
  #unsent: Buffer[] = [];
  #maxUnsentBytes = maxUnsentBytes;
  #headerSent = false;
  #ended = false;

  constructor(
    exchange: Exchange,
    { resource, format, frames }: { resource: Resource; format: Format; frames: WatchFrames },
  ) {
    this.#exchange = exchange;
    this.#resource = resource;
    this.#format = format;
    this.#frames = frames;
  }

  begin({ initial, revision }: Watch, { announceEnd }: { announceEnd: boolean }) {
    this.#open();
    for (const entry of initial) this.send({ type: "ADDED", entry });
    if (announceEnd) this.#bookmarkAt(revision, { "k8s.io/initial-events-end": "true" });
    // Otherwise a client could never receive a longer list.
    for (const frame of this.#unsent) this.#maxUnsentBytes += frame.length;
  }

  /** A watch that cannot begin gets 200 and an error event. */
  refuse(status: ApiStatus) {
    this.#open();
    this.#write(Buffer.from(`${writeJson({ type: "ERROR", object: status })}\n`));
    this.end();
  }

  send(event: Event) {
    this.#write(this.#format.as === "object" ? this.#frames.frameFor(event) : this.#toTableFrame(event));
  }

  bookmark() {
    this.#bookmarkAt(this.#exchange.api.store.revision);
  }

  end() {
    this.#flush();
    this.#ended = true;
    this.#exchange.response.end();
  }

  #open() {
    const { response } = this.#exchange;
    response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-cache, private" });
    // kubectl waits for the headers before it waits for events.
    response.flushHeaders();
  }

  #bookmarkAt(revision: number, annotations?: object) {
    const { kind, apiVersion } = this.#resource;
    const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) };
    const shown =
      this.#format.as === "Table"
        ? {
            kind: "Table",
            apiVersion: `meta.k8s.io/${this.#format.version}`,
            metadata,
            columnDefinitions: null,
            rows: [],
          }
        : { kind, apiVersion, metadata };
    this.#write(Buffer.from(`${writeJson({ type: "BOOKMARK", object: shown })}\n`));
  }

  #toTableFrame({ type, entry: { object } }: Event): Buffer {
    const format = this.#format;
    if (format.as !== "Table")
      return Buffer.from(`${writeJson({ type, object: partialMetadata(object, format.version) })}\n`);
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const options = {
      ...tableOptions(this.#exchange, this.#resource, format, metadata),
      withoutHeader: this.#headerSent,
    };
    this.#headerSent = true;
    return Buffer.from(`${writeJson({ type, object: table([object], options) })}\n`);
  }

  #write(frame: Buffer) {
    if (this.#ended) return;
    this.#unsent.push(frame);
    if (this.#unsent.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush() {
    const { response, log } = this.#exchange;
    const frames = this.#unsent;
    if (frames.length === 0 || this.#ended) return;
    this.#unsent = [];
    response.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
    if (response.writableLength <= this.#maxUnsentBytes) return;
    log?.warn("watcher cut off", { resource: this.#resource.storedAs, unsentBytes: response.writableLength });
    this.#ended = true;
    response.destroy();
  }
}

/**
 * Encoded events: watchers of the same events share the same bytes. Only the latest are kept,
 * because all watchers get one change before the next.
 */
export class WatchFrames {
  #entry: Entry | undefined;
  #frames = new Map<Event["type"], Buffer>();

  frameFor({ type, entry }: Event): Buffer {
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
