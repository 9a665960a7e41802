import type { Message } from "./message.ts";

/** Port: somewhere that people are told. */
export interface Channel {
  readonly name: string;
  /**
   * Tells them. May be called again with the same message after a reply was lost: `message.key` is the same then. Ends
   * when `signal` aborts. Never throws for what the other side does.
   */
  deliver(message: Message, signal: AbortSignal): Promise<Delivery>;
}

/** `refused`: trying again would not change the answer. `error` is for people, and holds no secret. */
export type Delivery =
  | { readonly status: "success" }
  | { readonly status: "failed" | "timeout" | "refused"; readonly error: string };
