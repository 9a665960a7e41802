import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { NoResponse } from "./send-request.ts";

export interface HttpResponse {
  readonly kind: "response";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Instead of text: the rest of the response, as it arrives. */
  readonly stream?: IncomingMessage;
}

/** Reads a whole response, up to `maxBytes`, unless `signal` aborts. */
export async function readResponse(
  response: IncomingMessage,
  signal: AbortSignal,
  maxBytes: number,
): Promise<HttpResponse | NoResponse> {
  const chunks: Buffer[] = [];
  const stop = () => response.destroy();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let bytes = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) return incomplete(`a response of more than ${maxBytes} bytes`, false);
    }
  } catch (cause) {
    return incomplete("the response ended early", true, cause);
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const { statusCode = 0, headers } = response;
  return { kind: "response", status: statusCode, headers, text: Buffer.concat(chunks).toString() };
}

/** Returns the response of a watch, whose events come later. An error is read like any other response. */
export function openStream(response: IncomingMessage, signal: AbortSignal, maxBytes: number) {
  const { statusCode, headers } = response;
  if (statusCode !== 200) return readResponse(response, signal, maxBytes);
  return { kind: "response", status: 200, headers, text: "", stream: response } satisfies HttpResponse;
}

function incomplete(reason: string, isTransient: boolean, cause?: unknown): NoResponse {
  return { kind: "no-response", mayHaveArrived: true, isTransient, reason, cause };
}
