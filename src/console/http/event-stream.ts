import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type Clock, sleep } from "../../time/index.ts";
import { type ApiCall, ProblemError } from "./api-route.ts";

/** A viewer that reads nothing for this time is cut off; its browser connects again and continues at the last event it read. */
const maxSilenceMs = 30_000;

/** How often the credentials of a viewer are checked again. */
const recheckMs = 5_000;

/** The events of one viewer, as they are written to the response, until `signal` aborts. */
export type EventSource = (signal: AbortSignal) => AsyncIterable<Uint8Array | string>;

/**
 * Sends Server-Sent Events until they end, the viewer is gone, the server closes, or the viewer's credentials are no longer
 * valid. The next event is read from the source when the viewer has read the one before: what a slow viewer misses is up to
 * the source.
 */
export async function sendEvents(call: ApiCall, clock: Clock, source: EventSource): Promise<void> {
  const { reply, closing } = call;
  const { raw } = reply;
  // Neither is reported again after it has happened, which may be while the caller was authenticated.
  if (closing.aborted || raw.destroyed) throw new ProblemError(503, "The console is closing. Send the request again.");
  const headers = reply.getHeaders();
  reply.hijack();
  const gone = new AbortController();
  const leave = () => gone.abort();
  raw.on("close", leave);
  raw.on("error", leave);
  closing.addEventListener("abort", leave, { once: true });
  raw.writeHead(200, {
    ...(headers as Readonly<Record<string, string>>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    // A proxy that collects a response would deliver events late or never.
    "x-accel-buffering": "no",
    // A connection that is kept for later requests would keep a server that closes waiting.
    connection: "close",
  });
  raw.flushHeaders();
  try {
    let checkedAt = clock.now();
    for await (const text of source(gone.signal)) {
      if (clock.now() - checkedAt >= recheckMs) {
        if (!(await call.isStillValid())) break;
        checkedAt = clock.now();
      }
      if (gone.signal.aborted || !(await write(raw, text, clock))) break;
    }
  } finally {
    closing.removeEventListener("abort", leave);
    raw.end();
  }
}

/** Whether the viewer took the text in time. */
async function write(raw: ServerResponse, text: Uint8Array | string, clock: Clock): Promise<boolean> {
  if (raw.write(text)) return true;
  const stop = new AbortController();
  const { signal } = stop;
  const drained = once(raw, "drain", { signal }).then(() => true);
  const closed = once(raw, "close", { signal }).then(() => false);
  const late = sleep(clock, maxSilenceMs, signal).then(() => false);
  const all = [drained, closed, late];
  const isTaken = await Promise.race(all).finally(() => {
    stop.abort();
    for (const one of all) one.catch(() => {});
  });
  if (!isTaken) raw.destroy();
  return isTaken;
}

/** One event. JSON has no line breaks, which would end the event. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
