import { type KubeClient, type KubeLease, leases, setNewest } from "../../kube/index.ts";
import type { Clock } from "../../time/index.ts";
import { type ClaimClientOptions, claimsOver } from "../claims/claim-client.ts";
import type { ClaimBid, ClaimGrant, ClaimResult, ClaimStore, Ending } from "../claims/claim-store.ts";
import type { Claims } from "../claims/claims.ts";
import { CoordinationError } from "../errors.ts";
import { type Key, keyName } from "../key.ts";
import { type RenewalResult, validityFrom } from "../lease-renewer.ts";
import * as rules from "./claim-rules.ts";
import { describeHolder, leaseKey, marginMs, type Observed, sameHolding } from "./lease-rules.ts";
import { removeLease } from "./lease-sweep.ts";
import { rethrowKubeError } from "./refusal.ts";

export interface KubernetesClaimsOptions extends ClaimClientOptions {
  readonly client: KubeClient;
  readonly namespace: string;
}

/**
 * Claims as Kubernetes Leases named `claim-…`: one write to claim, one to complete. Safe whatever the clocks show, as
 * long as they run at nearly the same speed; the claim of a crashed process is free one lease after the first request
 * for it. Kubernetes does not remove unused Leases by itself: see `startJanitor`.
 */
export function kubernetesClaims(options: KubernetesClaimsOptions): Claims {
  return claimsOver(kubernetesClaimStore(options), options);
}

type StoreOptions = Pick<KubernetesClaimsOptions, "client" | "clock" | "namespace">;

/** How often other writers may be faster before the call rejects. */
const maxTries = 10;

/** Claims as Lease objects: each change is one compare-and-swap on the resourceVersion. The claiming one is the fence. */
export function kubernetesClaimStore(options: StoreOptions): ClaimStore {
  const { client, clock, namespace } = options;
  const observed = new ObservedHolders(clock);

  /** The create is the claim; if the object exists already, its content decides. */
  async function claim(bid: ClaimBid): Promise<ClaimResult> {
    const name = claimName(bid.key);
    const empty: KubeLease = { metadata: { name, namespace, labels: rules.claimLabels } };
    for (let tries = 0; tries < maxTries; tries++) {
      const sentAt = clock.now();
      const outcome = await client.create(leases, rules.claimLease(empty, bid, client.serverNowMs()));
      if (outcome.kind === "created") return { state: "new", grant: claimGrant(options, bid, outcome.object, sentAt) };
      const found = await client.get(leases, { namespace, name });
      const result = found && (await claimExisting(found, bid));
      if (result) return result;
    }
    throw tooBusy(bid.key);
  }

  /** Undefined when another writer was faster: read the Lease again. */
  async function claimExisting(found: KubeLease, bid: ClaimBid): Promise<ClaimResult | undefined> {
    const key = leaseKey(found);
    if (key !== bid.key) {
      throw new CoordinationError("collision", `${bid.key} collides with the claim of another key: ${key ?? "none"}`);
    }
    const now = clock.now();
    const since = rules.isClaimed(found) ? observed.since(found) : now;
    const move = rules.nextMove(found, bid, { now, since, serverNowMs: client.serverNowMs() });
    if (move.do === "answer") return move.taken;

    const sentAt = clock.now();
    const outcome = await client.update(leases, rules.claimLease(found, bid, client.serverNowMs()));
    if (outcome.kind !== "updated") return undefined;
    observed.forget(outcome.object);
    return { state: "new", grant: claimGrant(options, bid, outcome.object, sentAt) };
  }

  return {
    guarantee: "consensus",
    claim: (bid) => claim(bid).catch(rethrowKubeError(bid.key)),
    close: async () => {},
  };
}

/** The claim of `bid`, as it was written at `sentAt`. */
function claimGrant(
  { client, clock, namespace }: StoreOptions,
  bid: ClaimBid,
  written: KubeLease,
  sentAt: number,
): ClaimGrant {
  // The version that we wrote or read last; the next write is conditional on it.
  let mine = written;

  const reread = () => client.get(leases, { namespace, name: claimName(bid.key) });

  async function renew(): Promise<RenewalResult> {
    for (let tries = 0; tries < maxTries; tries++) {
      const renewedAt = clock.now();
      const outcome = await client.update(leases, rules.renewLease(mine, client.serverNowMs()));
      if (outcome.kind === "updated") {
        mine = outcome.object;
        return { kind: "ok", ...validityFrom(renewedAt, bid.leaseMs, marginMs) };
      }
      const found = await reread();
      if (!found || !rules.isClaimOf(found, bid)) return { kind: "lost", holder: found && describeHolder(found) };
      mine = found;
    }
    return { kind: "unknown", cause: tooBusy(bid.key) };
  }

  async function settle(ending: Ending): Promise<"settled" | "lost"> {
    for (let tries = 0; tries < maxTries; tries++) {
      if (await settled(mine, ending)) return "settled";
      const found = await reread();
      if (!found) return "lost";
      if (!rules.isClaimOf(found, bid)) return rules.isSettledBy(found, bid, ending) ? "settled" : "lost";
      mine = found;
    }
    throw tooBusy(bid.key);
  }

  async function settled(lease: KubeLease, ending: Ending): Promise<boolean> {
    if (ending.kind === "retry" && ending.afterMs === 0) return removeLease(client, lease);
    const next = rules.settleLease(lease, bid, ending, client.serverNowMs());
    return (await client.update(leases, next)).kind === "updated";
  }

  return {
    fence: fenceOf(written),
    ...validityFrom(sentAt, bid.leaseMs, marginMs),
    renew: () => renew().catch((cause) => ({ kind: "unknown", cause })),
    settle: (ending) => settle(ending).catch(rethrowKubeError(bid.key)),
  };
}

function claimName(key: Key): string {
  return `claim-${keyName(key)}`;
}

function fenceOf({ metadata }: KubeLease): bigint {
  const { resourceVersion = "" } = metadata;
  if (/^\d+$/.test(resourceVersion)) return BigInt(resourceVersion);
  throw new CoordinationError("forbidden", `resourceVersion ${JSON.stringify(resourceVersion)} cannot be a fence`);
}

function tooBusy(key: Key): CoordinationError {
  return new CoordinationError("unavailable", `${key}: it changes faster than it can be read`);
}

/** The oldest observations beyond this are forgotten, which only makes a takeover later. */
const maxObserved = 10_000;

/** Since when, on our own clock, the holder of each Lease has shown no sign of life. */
class ObservedHolders {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Observed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Observes `lease`, which was read just now. */
  since(lease: KubeLease): number {
    const { name = "" } = lease.metadata;
    const last = this.#seen.get(name);
    if (last && sameHolding(last.lease, lease)) return last.since;

    const since = this.#clock.now();
    setNewest(this.#seen, [name, { lease, since }], maxObserved);
    return since;
  }

  forget(lease: KubeLease): void {
    this.#seen.delete(lease.metadata.name ?? "");
  }
}
