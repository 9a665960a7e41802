import type { IncomingMessage } from "node:http";
import type { Clock } from "../../time/index.ts";
import { type Call, KubeError, type WatchEvent } from "../client.ts";
import type { KubeObject } from "../object.ts";
import { type FailureStatus, parseStatus, refusal } from "./answers.ts";
import { Lines } from "./lines.ts";
import { describeOperation, type Operation } from "./operation.ts";
import type { HttpResponse } from "./read-answer.ts";

export interface WatchLimits {
  /** The server is asked to end a watch after this long, up to twice: its watchers spread over its replicas again. */
  readonly watchSeconds: number;
  /** A watch without an event for this long counts as lost. Bookmarks come about once a minute. */
  readonly silenceMs: number;
  readonly maxEventBytes: number;
}

export interface OpenWatch extends Call {
  readonly operation: Operation;
  readonly clock: Clock;
  readonly limits: WatchLimits;
  /** Asks for the stream. */
  readonly open: () => Promise<HttpResponse>;
}

/** The events of a watch until the server ends it; quiet when the caller does. */
export async function* watchEvents({
  operation,
  clock,
  limits,
  open,
  signal,
}: OpenWatch): AsyncGenerator<WatchEvent<KubeObject>> {
  if (signal?.aborted) return;
  try {
    const answer = await open();
    if (!answer.stream) throw refusal(parseStatus(answer), operation);
    for await (const line of readLines(answer.stream, { operation, clock, limits, signal })) {
      const event = parseEvent(line, operation);
      if (event) yield event;
      if (signal?.aborted) return;
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

type StreamOptions = Pick<OpenWatch, "operation" | "clock" | "limits"> & { readonly signal: AbortSignal | undefined };

async function* readLines(
  stream: IncomingMessage,
  { operation, clock, limits, signal }: StreamOptions,
): AsyncGenerator<string> {
  const { silenceMs, maxEventBytes } = limits;
  const lines = new Lines(maxEventBytes);
  const stop = () => stream.destroy();
  // Only the server's silence counts, not the time that a slow reader takes for arrived events.
  const listen = () => clock.after(silenceMs, () => stream.destroy(new Error(`silent for ${silenceMs} ms`)));
  let silence = listen();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  try {
    for await (const chunk of stream) {
      silence.cancel();
      yield* lines.take(chunk);
      silence = listen();
    }
    if (lines.isInsideLine) throw new Error("ended inside an event");
  } catch (cause) {
    const because = cause instanceof Error ? cause.message : String(cause);
    throw new KubeError("unavailable", `${describeOperation(operation)}: the stream broke off: ${because}`, { cause });
  } finally {
    silence.cancel();
    signal?.removeEventListener("abort", stop);
  }
}

interface Frame {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject & FailureStatus;
}

function parseEvent(line: string, operation: Operation): WatchEvent<KubeObject> | undefined {
  const { type, object } = parseFrame(line, operation);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object };
    case "BOOKMARK":
      return { type, resourceVersion: object.metadata.resourceVersion ?? "" };
    case "ERROR":
      throw toStreamError(object, operation);
    // A type that a later server may add.
    default:
      return undefined;
  }
}

function parseFrame(line: string, operation: Operation): Frame {
  try {
    const frame = JSON.parse(line) as Frame | null;
    if (typeof frame?.object === "object" && frame.object !== null) return frame;
  } catch {
    // Reported below, without the cause: it quotes the line.
  }
  throw new KubeError("unavailable", `${describeOperation(operation)}: a line of the stream is not an event`);
}

/** Inside a stream every error but an outdated version is temporary: the response to the next watch has the reason. */
function toStreamError(status: FailureStatus, operation: Operation): KubeError {
  const { code, message } = refusal(status, operation);
  return new KubeError(code === "gone" ? "gone" : "unavailable", message);
}
