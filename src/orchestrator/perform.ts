import { exactly, KubeError, refOf, type UpdateOutcome } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  annotationKeys,
  cancelAnnotations,
  ineffectiveExecutions,
  labelKeys,
  notificationRequests,
  type RemediationRequest,
  type RemediationTarget,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  signalTextsRemoved,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import type { Action } from "./action.ts";
import type { Announce } from "./announce.ts";
import { acknowledgementOn } from "./notices.ts";
import type { Caches } from "./observe.ts";
import { isOwnedBy } from "./own-executions.ts";
import { expireApproval } from "./requested-approvals.ts";

/** What the orchestrator acts with. */
export interface Deps {
  readonly caches: Caches;
  readonly ledger: Ledger;
  readonly announce: Announce;
}

/** What came of an action. `lost`: somebody else was faster, so everything has to be read again. */
export type Performed =
  | { readonly kind: "done"; readonly incident: RemediationRequest; readonly execution?: WorkflowExecution }
  | { readonly kind: "lost" };

/** Does one thing. Harmless to repeat; whatever it writes is conditional on what was seen. */
export async function perform(
  action: Action,
  incident: RemediationRequest,
  { caches, ledger, announce }: Deps,
  signal: AbortSignal,
): Promise<Performed> {
  const { client, ownWrites } = caches;
  const done: Performed = { kind: "done", incident };
  switch (action.do) {
    case "set-status": {
      const next = { ...incident, status: action.status };
      return written(await client.update(remediationRequests, next, { subresource: "status", signal }), caches);
    }
    case "create-execution":
      return createExecution(action.execution, incident, caches, signal);
    case "delete-execution": {
      // Exactly as it was seen: one that has ended meanwhile stays, because deleting it would end its cooldown.
      const preconditions = exactly(action.execution);
      const outcome = await client.delete(workflowExecutions, refOf(action.execution), { preconditions }, { signal });
      return outcome.kind === "conflict" ? { kind: "lost" } : done;
    }
    case "cancel-execution": {
      const patch = { merge: { metadata: { annotations: cancelAnnotations(action.request) } } };
      await client.patch(workflowExecutions, refOf(action.execution), patch, { signal });
      return done;
    }
    case "create-approval":
      await client.create(remediationApprovalRequests, action.approval, { signal });
      return done;
    case "expire-approval":
      return (await expireApproval(action.approval, client, signal)) ? done : { kind: "lost" };
    case "acknowledge":
      return acknowledge(action.record, action.executionUid, incident, caches, signal);
    case "mark-ineffective":
      return (await markIneffective(action.record, action.executionUid, caches, signal)) ? done : { kind: "lost" };
    case "record":
      await ledger.append(action.event);
      return done;
    case "notify":
      await client.create(notificationRequests, action.notice, { signal });
      return done;
    case "mark-superseded": {
      const { resourceVersion } = incident.metadata;
      const patch = { merge: { metadata: { resourceVersion, labels: { [labelKeys.latestOf]: null } } } };
      return written(await client.patch(remediationRequests, refOf(incident), patch, { signal }), caches);
    }
    case "delete-incident": {
      const options = { preconditions: exactly(incident), propagation: "Background" } as const;
      const outcome = await client.delete(remediationRequests, refOf(incident), options, { signal });
      if (outcome.kind === "conflict") return { kind: "lost" };
      ownWrites.noteGone(incident);
      return done;
    }
    case "strip-incident": {
      const { resourceVersion } = incident.metadata;
      const annotations = { [annotationKeys.tombstone]: "true" };
      const patch = { merge: { metadata: { resourceVersion, annotations }, spec: signalTextsRemoved } };
      return written(await client.patch(remediationRequests, refOf(incident), patch, { signal }), caches);
    }
    case "announce":
      announce(action.what, incident);
      return done;
  }
}

function written(outcome: UpdateOutcome<RemediationRequest>, { ownWrites }: Caches): Performed {
  if (outcome.kind !== "updated") return { kind: "lost" };
  ownWrites.note(outcome.object);
  return { kind: "done", incident: outcome.object };
}

/** The name is ours to give: whoever has it already was made by us, or has to go. */
async function createExecution(
  draft: WorkflowExecution,
  incident: RemediationRequest,
  { client }: Caches,
  signal: AbortSignal,
): Promise<Performed> {
  const outcome = await client.create(workflowExecutions, draft, { signal });
  if (outcome.kind === "created") return { kind: "done", incident, execution: outcome.object };
  const found = await client.get(workflowExecutions, refOf(draft), { signal });
  if (found && isOwnedBy(found, incident.metadata.uid)) return { kind: "done", incident, execution: found };
  if (!found) return { kind: "lost" };
  const { name, namespace } = found.metadata;
  throw new KubeError(
    "invalid",
    `execution ${namespace}/${name} was not made for incident ${incident.metadata.name}, but has the name of its next one: delete it`,
  );
}

/** At the very version that was read, so that marks by other replicas are kept. */
async function markIneffective(
  record: RemediationTarget,
  executionUid: string,
  { client }: Caches,
  signal: AbortSignal,
): Promise<boolean> {
  const uids = [...ineffectiveExecutions(record), executionUid].slice(-maxMarks);
  const annotations = { [annotationKeys.ineffectiveExecutions]: uids.join(",") };
  const { resourceVersion } = record.metadata;
  const patch = { merge: { metadata: { resourceVersion, annotations } } };
  const outcome = await client.patch(remediationTargets, refOf(record), patch, { signal });
  return outcome.kind === "updated";
}

/** More than there are workflows that become ineffective on one target before an executor reads the marks. */
const maxMarks = 10;

/** The executor folds it into the record. Only then is it taken off: after a crash it is handed on once more. */
async function acknowledge(
  record: RemediationTarget,
  executionUid: string,
  incident: RemediationRequest,
  caches: Caches,
  signal: AbortSignal,
): Promise<Performed> {
  const ack = acknowledgementOn(incident);
  if (!ack) return { kind: "lost" };
  const annotations = {
    [annotationKeys.acknowledgedExecution]: executionUid,
    [annotationKeys.acknowledge]: ack.reason,
    [annotationKeys.acknowledgedBy]: ack.by,
  };
  await caches.client.patch(remediationTargets, refOf(record), { merge: { metadata: { annotations } } }, { signal });
  const { resourceVersion } = incident.metadata;
  const none = { [annotationKeys.acknowledge]: null, [annotationKeys.acknowledgedBy]: null };
  const patch = { merge: { metadata: { resourceVersion, annotations: none } } };
  return written(await caches.client.patch(remediationRequests, refOf(incident), patch, { signal }), caches);
}
