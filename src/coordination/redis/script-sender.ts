import type { Redis } from "ioredis";
import { Agenda, Appointment, type Clock } from "../../time/index.ts";
import type { Scripts } from "./script.ts";

export interface ScriptSenderOptions {
  readonly clock: Clock;
  /** A later response counts as none. */
  readonly timeoutMs: number;
  /** Called when the server does not respond, or is no longer the primary. */
  readonly distrust: () => void;
}

/** Returns a function that sends a script to the server. Each call resolves or rejects within a bounded time. */
export function scriptSender(io: Redis, { clock, timeoutMs, distrust }: ScriptSenderOptions): Scripts["run"] {
  const deadlines = new Agenda(clock, 10, { background: true });

  /** Rejects if the response does not arrive in time. The timeout of ioredis would cost one timer per command. */
  function withTimeout(response: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const deadline = new Appointment({
        due() {
          reject(new Error(`no response within ${timeoutMs} ms`));
          distrust();
        },
      });
      deadlines.put(deadline, clock.now() + timeoutMs);
      response.then(
        (value) => {
          deadlines.remove(deadline);
          resolve(value);
        },
        (error) => {
          deadlines.remove(deadline);
          reject(error);
        },
      );
    });
  }

  return ({ sha, text }, keys, args) =>
    withTimeout(io.evalsha(sha, keys.length, ...keys, ...args)).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : "";
      // It was the primary, or had our slot, when we connected.
      if (/^(MOVED|READONLY) /.test(message)) distrust();
      if (!message.startsWith("NOSCRIPT")) throw error;
      // A refused script has not run, so it may be sent again in full; anything else may have happened.
      return withTimeout(io.eval(text, keys.length, ...keys, ...args));
    });
}
