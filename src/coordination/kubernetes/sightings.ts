import type { KubeLease } from "../../kube/index.ts";
import type { Clock } from "../../time/index.ts";
import { sameHolding } from "./lease-rules.ts";

/** Leases beyond this are seen as if for the first time, which only makes a takeover later. */
const maxRemembered = 10_000;

/** Since when, on our own clock, the holder of each Lease has shown no sign of life. */
export class Sightings {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly lease: KubeLease; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks at `lease`, which was read just now. */
  since(lease: KubeLease): number {
    const { name = "" } = lease.metadata;
    const last = this.#seen.get(name);
    if (last && sameHolding(last.lease, lease)) return last.since;

    const since = this.#clock.now();
    this.#seen.delete(name);
    this.#seen.set(name, { lease, since });
    if (this.#seen.size > maxRemembered) this.#seen.delete(this.#seen.keys().next().value as string);
    return since;
  }

  forget(lease: KubeLease): void {
    this.#seen.delete(lease.metadata.name ?? "");
  }
}
