import type { IncomingMessage } from "node:http";
import { KubeError, type PodLogQuery } from "../client.ts";
import { errorMessage } from "../runtime/problem.ts";
import { describeOperation, type Operation } from "./operation.ts";

/** The query of a request for the log of a container. */
export function logParameters(wanted: Omit<PodLogQuery, "namespace" | "pod">): string {
  const { container, follow, sinceTime, tailLines } = wanted;
  const query = new URLSearchParams({ container, timestamps: "true" });
  if (follow) query.set("follow", "true");
  if (sinceTime !== undefined) query.set("sinceTime", sinceTime);
  if (tailLines !== undefined) query.set("tailLines", String(tailLines));
  return `?${query}`;
}

/** The bytes of a log until the server ends it. Ends without an error when `signal` aborts. Silence is no error here. */
export async function* logChunks(
  stream: IncomingMessage,
  operation: Operation,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const stop = () => stream.destroy();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  try {
    for await (const chunk of stream) yield chunk;
  } catch (cause) {
    if (signal?.aborted) return;
    const message = `${describeOperation(operation)}: the stream broke off: ${errorMessage(cause)}`;
    throw new KubeError("unavailable", message, { cause });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
