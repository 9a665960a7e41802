import type { Timer } from "../../time/index.ts";
import type { Resource } from "../api/resource.ts";
import { StatusError } from "../api/status-error.ts";
import { bookmarkEveryMs, type Watch, type WatchOptions, watchObjects } from "../api/watch.ts";
import { acceptedFormat } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import { parseFlag, parseNumber } from "./options.ts";
import { WatchFrames, WatchStream } from "./watch-stream.ts";

/** The last bookmark of a watch is sent this long before its end. */
const bookmarkBeforeEndMs = 2_000;
const minLongWatchMs = 30 * 60_000;

/** The watches that one server has open. */
export class WatchStreams {
  readonly #open = new Set<WatchStream>();
  readonly #frames = new WatchFrames();

  /** Responds with a stream of events that ends after `timeoutSeconds`, when the client disconnects, or when it falls behind. */
  begin(exchange: Exchange, resource: Resource, options: WatchOptions): void {
    const { api, query, request } = exchange;
    const format = acceptedFormat(request.headers.accept);
    const timeoutSeconds = parseNumber(query, "timeoutSeconds");
    const stream = new WatchStream(exchange, { resource, format, frames: this.#frames });
    let watch: Watch;
    try {
      watch = watchObjects(api, resource, options, (event) => stream.send(event));
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.code !== 410) throw error;
      return stream.refuse(error.status);
    }
    stream.begin(watch, {
      announceEnd: options.sendInitialEvents === true && parseFlag(query, "allowWatchBookmarks") === true,
    });
    this.#open.add(stream);
    const timers = schedule(exchange, stream, timeoutSeconds);
    exchange.response.on("close", () => {
      this.#open.delete(stream);
      watch.stop();
      for (const timer of timers) timer?.cancel();
    });
  }

  /** Ends every open watch as at its timeout: its client watches again from its last version. */
  endAll(): void {
    for (const stream of this.#open) stream.end();
  }
}

function schedule({ api, query }: Exchange, stream: WatchStream, timeoutSeconds: number | undefined): Timer[] {
  const durationMs = timeoutSeconds ? timeoutSeconds * 1_000 : minLongWatchMs * (1 + api.random.fraction());
  const timers: Timer[] = [api.clock.after(durationMs, () => stream.end())];
  if (!parseFlag(query, "allowWatchBookmarks")) return timers;

  const lastMs = durationMs - bookmarkBeforeEndMs;
  if (lastMs > 0) timers.push(api.clock.after(lastMs, () => stream.bookmark()));
  const regularly = () => {
    stream.bookmark();
    timers[2] = api.clock.after(bookmarkEveryMs, regularly);
  };
  timers[2] = api.clock.after(bookmarkEveryMs, regularly);
  return timers;
}
