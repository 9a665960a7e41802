import { iso, type KubeClient, refOf } from "../../kube/index.ts";
import type { Fact, Ledger, LedgerEvent } from "../../ledger/index.ts";
import { isLasting, isVerifiedName, type NameGuarantee } from "../../policy/index.ts";
import { type AutomationPause, annotationKeys, automationPauses, pauseFinalizer } from "../../resources/index.ts";
import type { AnswerersKnownSince } from "../caches.ts";

export interface PauseRecorderOptions {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  /** Since when no user can end a pause in another user's name. */
  readonly resumersKnownSince?: AnswerersKnownSince | undefined;
  /** The only user that the API server lets write, if there is one. */
  readonly onlyUser?: string | undefined;
}

/**
 * Records the start and the end of a pause in the ledger, regardless of the tool that wrote them. The mark on the pause is written last:
 * after a crash, or by two replicas, the same events are recorded again under the same ids. A finalizer keeps a pause that is
 * deleted, which no longer has an effect, until its end is recorded.
 */
export async function recordPause(
  pause: AutomationPause,
  { client, ledger, resumersKnownSince, onlyUser }: PauseRecorderOptions,
  signal: AbortSignal,
): Promise<void> {
  const { annotations, finalizers = [], resourceVersion, deletionTimestamp } = pause.metadata;
  const hasEnded = pause.status !== undefined || deletionTimestamp !== undefined;
  const stage = hasEnded ? "ended" : "started";
  const others = finalizers.filter((finalizer) => finalizer !== pauseFinalizer);
  const isKept = others.length < finalizers.length;
  if (annotations?.[annotationKeys.recorded] === stage && isKept === !hasEnded) return;
  const guarantees = {
    resumers: await resumersKnownSince?.(signal),
    // No admission policy compares the name of the user who starts a pause: a tool may apply a manifest of another user.
    requesters: onlyUser === undefined ? undefined : { onlyUser },
  };
  for (const event of pauseEvents(pause, guarantees)) await ledger.append(event);
  const metadata = {
    resourceVersion,
    annotations: { [annotationKeys.recorded]: stage },
    finalizers: hasEnded ? others : [...others, pauseFinalizer],
  };
  await client.patch(automationPauses, refOf(pause), { merge: { metadata } }, { signal });
}

/** Returns the events of a pause so far. `resumers`, `requesters`: why the names of users who end and start pauses can be trusted. */
function pauseEvents(
  pause: AutomationPause,
  { requesters, resumers }: Readonly<Record<"requesters" | "resumers", NameGuarantee | undefined>>,
): readonly LedgerEvent[] {
  const { metadata, spec, status } = pause;
  const deleted = deletedPauseEvent(pause);
  const signableSinceMs = Date.parse(metadata.creationTimestamp ?? "");
  const isVerified = (by: string, knownSinceMs: NameGuarantee | undefined) =>
    isVerifiedName(by, { knownSinceMs, signableSinceMs });
  const started = pauseEvent(pause, "started", iso(signableSinceMs), {
    by: spec.requestedBy,
    verified: isVerified(spec.requestedBy, requesters),
    reason: spec.reason,
    ...(spec.until === undefined ? {} : { until: spec.until }),
  });
  if (!status) return deleted ? [started, deleted] : [started];
  const { endedAt, endedBy, endReason } = status;
  const facts = { by: endedBy, verified: isVerified(endedBy, resumers), reason: endReason };
  return [started, pauseEvent(pause, "ended", iso(endedAt), facts)];
}

/** Returns the end of a pause that was deleted while it was active. Kubernetes does not record who deleted it. */
function deletedPauseEvent(pause: AutomationPause): LedgerEvent | undefined {
  const { deletionTimestamp, ...metadata } = pause.metadata;
  const deletedMs = Date.parse(deletionTimestamp ?? "");
  if (!isLasting({ ...pause, metadata }, deletedMs)) return undefined;
  const facts = { by: "unknown", verified: false, reason: "the pause was deleted" };
  return pauseEvent(pause, "ended", iso(deletedMs), facts);
}

function pauseEvent(
  { metadata, spec }: AutomationPause,
  what: "started" | "ended",
  at: string,
  facts: Readonly<Record<string, Fact>>,
): LedgerEvent {
  const type = `pause.${what}` as const;
  return {
    id: `${metadata.uid}/${type}`,
    type,
    at,
    facts: {
      pause: `${metadata.namespace}/${metadata.name}`,
      scope: spec.scope,
      ...("targetNamespace" in spec ? { namespace: spec.targetNamespace } : {}),
      ...("targetResource" in spec ? { target_resource: spec.targetResource } : {}),
      ...("workflowId" in spec ? { workflow_id: spec.workflowId } : {}),
      ...facts,
    },
  };
}
