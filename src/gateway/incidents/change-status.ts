import { isJsonObject, type JsonObject, type KubeClient } from "../../kube/index.ts";
import { isClosedIncident, type RemediationRequest, remediationRequests } from "../../resources/index.ts";
import { type Clock, type Random, sleep } from "../../time/index.ts";
import type { CountedStatus } from "../decide.ts";
import { GatewayError } from "../gateway-error.ts";
import type { Incidents } from "./incidents.ts";

export interface StatusWriter {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly incidents: Incidents;
  /** Records the opening of an incident in the ledger. Harmless if it is recorded already. */
  readonly recordOpening: (incident: RemediationRequest) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
}

/** An incident, with its cached state if there is one. */
export interface KnownIncident {
  readonly name: string;
  readonly uid: string;
  readonly known: RemediationRequest | undefined;
  /** Whether this gateway opened it, and recorded that. */
  readonly isOwn: boolean;
}

export interface StatusChange {
  readonly next: CountedStatus;
  /** Called when it is written. */
  readonly done: (object: RemediationRequest) => void;
}

/** The maximum number of conflicts with other writers before the sender must retry. */
const maxTries = 30;

/** Reads the incident and writes the result of `decide`, again after each conflict. Undefined if there is no change. */
export async function changeStatus(
  { client, namespace, incidents, recordOpening, clock, random }: StatusWriter,
  { name, uid, known, isOwn }: KnownIncident,
  decide: (live: RemediationRequest) => StatusChange | undefined,
): Promise<RemediationRequest | undefined> {
  let live = known;
  for (let tries = 1; tries <= maxTries; tries++) {
    if (!live) {
      live = await incidents.get(name);
      if (live) incidents.cache(live);
    }
    if (live?.metadata.uid !== uid) return undefined;
    const change = decide(live);
    // This is also right for an outdated cache: a closed incident never reopens.
    if (!change) return undefined;
    // The gateway that created it may have ended before it recorded that.
    if (!isOwn && !hasCounts(live)) await recordOpening(live);
    const patch = { merge: statusPatch(live, change.next) };
    const outcome = await client.patch(remediationRequests, { namespace, name }, patch, { subresource: "status" });
    if (outcome.kind === "updated") {
      incidents.cache(outcome.object);
      change.done(outcome.object);
      return outcome.object;
    }
    live = undefined;
    // After some conflicts, a random delay separates the gateways that write to one incident.
    if (tries > 2) await sleep(clock, random.fraction() * 10 * tries);
  }
  throw new GatewayError("unavailable", `${name} is being changed too often to write to it`);
}

/** An incident has counts from the first write to its status, before which its opening is recorded. */
export function hasCounts({ status }: RemediationRequest): boolean {
  return status?.deduplication !== undefined;
}

/** The patch of the gateway's part of the status, valid only at exactly this version. */
function statusPatch(incident: RemediationRequest, { deduplication, resolvedAt }: CountedStatus) {
  const { metadata, status } = incident;
  return {
    metadata: { resourceVersion: metadata.resourceVersion },
    status: {
      ...(status?.phase === undefined ? { phase: "Pending" } : {}),
      deduplication: mergePatch(status?.deduplication ?? {}, deduplication),
      // A closed incident has its outcome already.
      ...(isClosedIncident(incident) ? {} : { resolvedAt: resolvedAt ?? null }),
    },
  };
}

/** The JSON merge patch from `before` to `after`. Objects that both share are not compared. */
function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name in before) if (!Object.hasOwn(after, name)) patch[name] = null;
  for (const name in after) {
    const [known, value] = [before[name], after[name]];
    if (known === value) continue;
    patch[name] = isJsonObject(known) && isJsonObject(value) ? mergePatch(known, value) : value;
  }
  return patch;
}
