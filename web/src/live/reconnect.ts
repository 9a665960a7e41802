export interface ReconnectOptions {
  readonly sleep: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

const minRetryMs = 250;
const maxRetryMs = 5_000;

/**
 * Runs `connect` again after each interruption, until it returns "done" or `signal` aborts. Waits longer after each attempt
 * that did not call `received`.
 */
export async function reconnect(
  connect: (received: () => void) => Promise<"done" | "interrupted">,
  { sleep, signal }: ReconnectOptions,
): Promise<void> {
  let retryMs = minRetryMs;
  const received = () => {
    retryMs = minRetryMs;
  };
  while (!signal.aborted) {
    if ((await connect(received)) === "done" || signal.aborted) return;
    await sleep(retryMs);
    retryMs = Math.min(retryMs * 2, maxRetryMs);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
