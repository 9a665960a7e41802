import type { FastifyReply } from "fastify";

/** A viewer that has not read so much is cut off; its browser connects again and continues at the last event it read. */
const maxUnreadBytes = 1_024 * 1_024;

/** Server-Sent Events to one viewer. */
export interface EventStream {
  /** Sends text that `eventText` made; it may be the same for many viewers. */
  send(text: string): void;
  end(): void;
  /** Aborts when the viewer is gone. */
  readonly gone: AbortSignal;
}

/** Takes the response over from Fastify. */
export function openEventStream(reply: FastifyReply): EventStream {
  const headers = reply.getHeaders();
  reply.hijack();
  const { raw } = reply;
  const gone = new AbortController();
  raw.on("close", () => gone.abort());
  raw.on("error", () => gone.abort());
  raw.writeHead(200, {
    ...(headers as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    // A proxy that collects a response would deliver events late or never.
    "x-accel-buffering": "no",
  });
  return {
    gone: gone.signal,
    send(text) {
      if (gone.signal.aborted) return;
      raw.write(text);
      if (raw.writableLength > maxUnreadBytes) raw.destroy();
    },
    end: () => void raw.end(),
  };
}

/** One event. JSON has no line breaks, which would end the event. */
export function eventText(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
