import type { Message } from "./message.ts";
import type { ChannelStyle } from "./thread.ts";

/** Port: a destination for notices. */
export interface Channel {
  readonly name: string;
  readonly style: ChannelStyle;
  /**
   * Delivers the message. May be called again with the same message after a lost response: `message.key` and
   * `message.thread` are the same then. Ends when `signal` aborts. Never throws for errors of the receiver.
   */
  deliver(message: Message, signal: AbortSignal): Promise<Delivery>;
}

/**
 * `thread`: the id of the thread, if the service chooses it. `refused`: a retry would get the same response. `error` is
 * shown to users and contains no secret. `retryAfterMs`: the minimum delay that the receiver requests.
 */
export type Delivery =
  | { readonly status: "success"; readonly thread?: string }
  | { readonly status: "failed" | "timeout" | "refused"; readonly error: string; readonly retryAfterMs?: number };
