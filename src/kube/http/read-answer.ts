import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Unanswered } from "./exchange.ts";

export interface HttpResponse {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Instead of text: the rest of the response, as it arrives. */
  readonly stream?: IncomingMessage;
}

/** Reads a whole answer. `stop` ends it, and so does one that is too large. */
export async function readAnswer(
  response: IncomingMessage,
  stop: AbortSignal,
  maxBytes: number,
): Promise<HttpResponse | Unanswered> {
  const chunks: Buffer[] = [];
  const stopped = () => response.destroy();
  stop.addEventListener("abort", stopped, { once: true });
  if (stop.aborted) stopped();
  let bytes = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) return brokenOff(`an answer of more than ${maxBytes} bytes`, false);
    }
  } catch (cause) {
    return brokenOff("the answer broke off", true, cause);
  } finally {
    stop.removeEventListener("abort", stopped);
  }
  const { statusCode = 0, headers } = response;
  return { kind: "answered", status: statusCode, headers, text: Buffer.concat(chunks).toString() };
}

/** Takes the answer of a watch: its events come later. A refusal is read like any other answer. */
export function openStream(response: IncomingMessage, stop: AbortSignal, maxBytes: number) {
  const { statusCode, headers } = response;
  if (statusCode !== 200) return readAnswer(response, stop, maxBytes);
  return { kind: "answered", status: 200, headers, text: "", stream: response } satisfies HttpResponse;
}

function brokenOff(because: string, passing: boolean, cause?: unknown): Unanswered {
  return { kind: "unanswered", mayHaveArrived: true, passing, because, cause };
}
