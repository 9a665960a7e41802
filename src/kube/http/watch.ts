import type { IncomingMessage } from "node:http";
import type { Clock } from "../../time/index.ts";
import { type Call, KubeError, type WatchEvent } from "../client.ts";
import type { KubeObject } from "../object.ts";
import { errorMessage } from "../runtime/problem.ts";
import { Lines } from "./lines.ts";
import { describeOperation, type Operation } from "./operation.ts";
import type { HttpResponse } from "./read-response.ts";
import { type FailureStatus, parseStatus, toKubeError } from "./status.ts";

export interface WatchLimits {
  /** The server ends a watch after this time, at most twice of it: watchers spread over its replicas again. */
  readonly watchSeconds: number;
  /** A watch without an event for this long counts as lost. Bookmarks come about once a minute. */
  readonly silenceMs: number;
  readonly maxEventBytes: number;
}

export interface OpenWatch extends Call {
  readonly operation: Operation;
  readonly clock: Clock;
  readonly limits: WatchLimits;
  /** Requests the stream. */
  readonly open: () => Promise<HttpResponse>;
}

/** The events of a watch until the server ends it. Ends without an error when `signal` aborts. */
export async function* watchEvents({
  operation,
  clock,
  limits,
  open,
  signal,
}: OpenWatch): AsyncGenerator<WatchEvent<KubeObject>> {
  if (signal?.aborted) return;
  try {
    const response = await open();
    if (!response.stream) throw toKubeError(parseStatus(response), operation);
    for await (const line of readLines(response.stream, { operation, clock, limits, signal })) {
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
  const startTimer = () => clock.after(silenceMs, () => stream.destroy(new Error(`silent for ${silenceMs} ms`)));
  let silence = startTimer();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  try {
    for await (const chunk of stream) {
      silence.cancel();
      yield* lines.take(chunk);
      silence = startTimer();
    }
    if (lines.isInsideLine) throw new Error("ended inside an event");
  } catch (cause) {
    const message = `${describeOperation(operation)}: the stream broke off: ${errorMessage(cause)}`;
    throw new KubeError("unavailable", message, { cause });
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
  const { code, message } = toKubeError(status, operation);
  return new KubeError(code === "gone" ? "gone" : "unavailable", message);
}
