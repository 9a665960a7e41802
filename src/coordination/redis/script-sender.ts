import type { Redis } from "ioredis";
import { Agenda, Appointment, type Clock } from "../../time/index.ts";
import type { Script } from "./script.ts";

export interface ScriptSenderOptions {
  readonly clock: Clock;
  /** A later response counts as none. */
  readonly withinMs: number;
  /** Called when the server does not respond, or is no longer the primary. */
  readonly distrust: () => void;
}

/** Sends scripts to the server. Each resolves or rejects within a bounded time. */
export class ScriptSender {
  readonly #io: Redis;
  readonly #clock: Clock;
  readonly #withinMs: number;
  readonly #distrust: () => void;
  /** The deadlines of pending responses. */
  readonly #agenda: Agenda;

  constructor(io: Redis, { clock, withinMs, distrust }: ScriptSenderOptions) {
    this.#io = io;
    this.#clock = clock;
    this.#withinMs = withinMs;
    this.#distrust = distrust;
    this.#agenda = new Agenda(clock, 10, { background: true });
  }

  send({ sha, text }: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.#inTime(this.#io.evalsha(sha, keys.length, ...keys, ...args)).catch((error: unknown) => {
      const answer = error instanceof Error ? error.message : "";
      // It was the primary, or had our slot, when we connected.
      if (/^(MOVED|READONLY) /.test(answer)) this.#distrust();
      if (!answer.startsWith("NOSCRIPT")) throw error;
      // A refused script has not run, so it may be sent again in full; anything else may have happened.
      return this.#inTime(this.#io.eval(text, keys.length, ...keys, ...args));
    });
  }

  /** The answer, or an error once it is overdue. ioredis could do it too, with a timer for each that costs more. */
  #inTime(answer: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const overdue = new Appointment({
        due: () => {
          reject(new Error(`no response within ${this.#withinMs} ms`));
          this.#distrust();
        },
      });
      this.#agenda.put(overdue, this.#clock.now() + this.#withinMs);
      answer.then(
        (value) => {
          this.#agenda.remove(overdue);
          resolve(value);
        },
        (error) => {
          this.#agenda.remove(overdue);
          reject(error);
        },
      );
    });
  }
}
