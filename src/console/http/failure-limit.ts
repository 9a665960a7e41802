import { setNewest } from "../../kube/index.ts";
import { type Logger, limitedWarnings, type WarnLimited } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";

const maxFailures = 10;
const windowMs = 60_000;
/** A client with many addresses cannot fill the memory. */
const maxAddresses = 10_000;

/** Limits failed log-ins and wrong tokens of each client address to ten a minute, and logs one of them. */
export class FailureLimit {
  readonly #clock: Clock;
  readonly #warn: WarnLimited;
  readonly #failures = new Map<string, { count: number; readonly since: number }>();

  constructor(options: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = options.clock;
    this.#warn = limitedWarnings(options);
  }

  /** The seconds until the address may try again; undefined if it may now. */
  waitSeconds(address: string): number | undefined {
    const known = this.#current(address);
    if (!known || known.count < maxFailures) return undefined;
    return Math.max(1, Math.ceil((known.since + windowMs - this.#clock.now()) / 1_000));
  }

  failed(address: string): void {
    this.#warn("log-in failed", { address }, address);
    const known = this.#current(address);
    if (known) {
      known.count++;
      return;
    }
    setNewest(this.#failures, [address, { count: 1, since: this.#clock.now() }], maxAddresses);
  }

  #current(address: string) {
    const known = this.#failures.get(address);
    if (known && known.since + windowMs > this.#clock.now()) return known;
    this.#failures.delete(address);
    return undefined;
  }
}
