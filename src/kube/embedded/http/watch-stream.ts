import type { Timer } from "../../../time/index.ts";
import type { Resource } from "../api/resource.ts";
import { type Status, StatusError } from "../api/status-error.ts";
import { type Event, type Watch, type WatchOptions, watchObjects } from "../api/watch.ts";
import { writeJson } from "../json/write-json.ts";
import type { Entry } from "../object-store.ts";
import { partialMetadata, table } from "../tables/table.ts";
import { acceptedFormat, type Format } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import { flagOf, numberOf } from "./options.ts";
import { tableOptions } from "./write-object.ts";

/** A watcher that is this far behind is cut off: it can come back and continue from where it was. */
const mostUnsentBytes = 8 * 1_024 * 1_024;
const bookmarkEveryMs = 60_000;
/** A last bookmark comes this long before the end of a watch that is short. */
const bookmarkBeforeEndMs = 2_000;
const shortestLongWatchMs = 30 * 60_000;

/** Answers with a stream of events that ends after `timeoutSeconds`, when the client leaves, or when it falls behind. */
export function streamWatch(exchange: Exchange, resource: Resource, options: WatchOptions): void {
  const { api, query, response, request } = exchange;
  const format = acceptedFormat(request.headers.accept);
  const timeoutSeconds = numberOf(query, "timeoutSeconds");
  const stream = new WatchStream(exchange, resource, format);
  let watch: Watch;
  try {
    watch = watchObjects(api, resource, options, (event) => stream.send(event));
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 410) throw error;
    return stream.refuse(error.status);
  }
  stream.begin(watch, {
    announceEnd: options.sendInitialEvents === true && flagOf(query, "allowWatchBookmarks") === true,
  });

  const durationMs = timeoutSeconds ? timeoutSeconds * 1_000 : shortestLongWatchMs * (1 + api.random.fraction());
  const timers: Timer[] = [api.clock.after(durationMs, () => stream.end())];
  if (flagOf(query, "allowWatchBookmarks")) {
    const lastMs = durationMs - bookmarkBeforeEndMs;
    if (lastMs > 0) timers.push(api.clock.after(lastMs, () => stream.bookmark()));
    const regularly = () => {
      stream.bookmark();
      timers[2] = api.clock.after(bookmarkEveryMs, regularly);
    };
    timers[2] = api.clock.after(bookmarkEveryMs, regularly);
  }
  response.on("close", () => {
    watch.stop();
    for (const timer of timers) timer?.cancel();
  });
}

/** The events of one turn of the event loop go out together. */
class WatchStream {
  readonly #exchange: Exchange;
  readonly #resource: Resource;
  readonly #format: Format;
  #unsent: Buffer[] = [];
  #headerSent = false;
  #ended = false;

  constructor(exchange: Exchange, resource: Resource, format: Format) {
    this.#exchange = exchange;
    this.#resource = resource;
    this.#format = format;
  }

  begin({ initial, revision }: Watch, { announceEnd }: { announceEnd: boolean }) {
    this.#open();
    for (const entry of initial) this.send({ type: "ADDED", entry });
    if (announceEnd) this.#bookmarkAt(revision, { "k8s.io/initial-events-end": "true" });
  }

  /** A watch that cannot begin is answered with 200 and an event that says so. */
  refuse(status: Status) {
    this.#open();
    this.#write(Buffer.from(`${writeJson({ type: "ERROR", object: status })}\n`));
    this.end();
  }

  send(event: Event) {
    this.#write(this.#format.as === "object" ? plainFrame(event) : this.#transformed(event));
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

  #transformed({ type, entry: { object } }: Event): Buffer {
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
    if (response.writableLength <= mostUnsentBytes) return;
    log?.warn("watcher cut off", { resource: this.#resource.storedAs, unsentBytes: response.writableLength });
    this.#ended = true;
    response.destroy();
  }
}

const frames = new WeakMap<Entry, Map<string, Buffer>>();

/** The same bytes for every watcher that is told the same. */
function plainFrame({ type, entry }: Event): Buffer {
  let known = frames.get(entry);
  if (!known) {
    known = new Map();
    frames.set(entry, known);
  }
  let frame = known.get(type);
  if (!frame) {
    frame = Buffer.from(`{"type":"${type}","object":${entry.json}}\n`);
    known.set(type, frame);
  }
  return frame;
}
