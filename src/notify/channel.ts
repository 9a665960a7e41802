import type { Message } from "./message.ts";

/** Port: a destination for notices. */
export interface Channel {
  readonly name: string;
  /**
   * Delivers the message. May be called again with the same message after a lost response: `message.key` is the same
   * then. Ends when `signal` aborts. Never throws for errors of the receiver.
   */
  deliver(message: Message, signal: AbortSignal): Promise<Delivery>;
}

/** `refused`: a retry would get the same response. `error` is shown to people and contains no secret. */
export type Delivery =
  | { readonly status: "success" }
  | { readonly status: "failed" | "timeout" | "refused"; readonly error: string };
