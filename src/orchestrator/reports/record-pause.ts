import { iso, type KubeClient, refOf } from "../../kube/index.ts";
import type { Fact, Ledger, LedgerEvent } from "../../ledger/index.ts";
import { isLasting, isVerifiedName, type NameGuarantee } from "../../policy/index.ts";
import { type AutomationPause, annotationKeys, automationPauses, pauseFinalizer } from "../../resources/index.ts";

export interface PauseGuarantees {
  /** Why the names of users who end pauses can be trusted. */
  readonly resumers: NameGuarantee | undefined;
  /** The same for users who start them: no admission policy compares these, because a tool may apply a person's manifest. */
  readonly requesters: NameGuarantee | undefined;
}

export interface PauseRecorder {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  readonly guarantees: (signal: AbortSignal) => Promise<PauseGuarantees>;
}

/**
 * Records the start and the end of a pause in the ledger, whatever tool wrote them. The mark on the pause is written last:
 * after a crash, or by two replicas, the same events are recorded again under the same ids. A finalizer keeps a pause that is
 * deleted, which no longer has an effect, until its end is recorded.
 */
export async function recordPause(pause: AutomationPause, recorder: PauseRecorder, signal: AbortSignal): Promise<void> {
  const { client, ledger, guarantees } = recorder;
  const { annotations, finalizers = [], resourceVersion, deletionTimestamp } = pause.metadata;
  const hasEnded = pause.status !== undefined || deletionTimestamp !== undefined;
  const stage = hasEnded ? "ended" : "started";
  const others = finalizers.filter((finalizer) => finalizer !== pauseFinalizer);
  const isKept = others.length < finalizers.length;
  if (annotations?.[annotationKeys.recorded] === stage && isKept === !hasEnded) return;
  for (const event of pauseEvents(pause, await guarantees(signal))) await ledger.append(event);
  const metadata = {
    resourceVersion,
    annotations: { [annotationKeys.recorded]: stage },
    finalizers: hasEnded ? others : [...others, pauseFinalizer],
  };
  await client.patch(automationPauses, refOf(pause), { merge: { metadata } }, { signal });
}

/** Returns the events of a pause so far. */
function pauseEvents(pause: AutomationPause, { requesters, resumers }: PauseGuarantees): readonly LedgerEvent[] {
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
