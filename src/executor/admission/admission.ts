import { type Decision, iso } from "../../kube/index.ts";
import { type Allowed, type Blocked, decide as decidePolicy, formatRemaining, withHolder } from "../../policy/index.ts";
import type { RecordHolder, SkipDetails, TargetHolder } from "../../resources/index.ts";
import { type Action, act, confirmEntry } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import { usedApproval } from "./approval.ts";
import type { ValidPlan } from "./plan.ts";

/** Evaluates the policy. The write that admits the execution is conditional on the record that was evaluated: it is the lock. */
export function admitOrSkip(snapshot: Snapshot, plan: ValidPlan): Decision<Action> {
  const { execution, record, nowMs, settings, pauses } = snapshot;
  const { uid = "" } = execution.metadata;
  const { workflowId } = execution.spec.workflowRef;
  const { target } = plan;

  const decision = decidePolicy(
    { target: target.text, workflowId, executionUid: uid, ...(target.namespace && { namespace: target.namespace }) },
    {
      record: record?.status,
      workflow: { cooldownMs: plan.cooldownMs, observe: plan.observe, outsideCatalog: plan.entry === undefined },
      pauses,
      settings,
      nowMs,
    },
  );
  const block = decision.verdict === "block" ? decision : decision.observeOnly ? toObservedBlock(decision) : undefined;
  if (block) return skip(snapshot, plan, block);
  return act(
    ...confirmEntry(snapshot),
    { do: "write-record", status: withHolder(record?.status, toHolder(snapshot, plan)) },
    { do: "announce", what: { kind: "admitted" } },
  );
}

function toHolder({ execution, approval, nowMs }: Snapshot, plan: ValidPlan): RecordHolder {
  const { metadata, spec } = execution;
  const catalogEntryUid = plan.entry?.metadata.uid;
  return {
    executionUid: metadata.uid ?? "",
    executionName: metadata.name ?? "",
    executionNamespace: metadata.namespace ?? "",
    workflowId: spec.workflowRef.workflowId,
    engine: plan.engine,
    since: iso(nowMs),
    ...(catalogEntryUid === undefined ? {} : { catalogEntryUid }),
    ...(approval ? { approval: usedApproval(approval) } : {}),
  };
}

/**
 * Skips the execution. An outdated record could show a former holder, or a failure that was acknowledged since; so the server
 * confirms it first, and the catalog entry if the block depends on it.
 */
function skip(snapshot: Snapshot, plan: ValidPlan, block: Blocked): Decision<Action> {
  if (snapshot.unconfirmed.record) return act({ do: "confirm", what: "record" });
  const skipDetails = toSkipDetails(snapshot, plan, block);
  return act(
    ...(dependsOnEntry(block) ? confirmEntry(snapshot) : []),
    { do: "set-status", status: { phase: "Skipped", skipDetails }, decision: block },
    { do: "announce", what: { kind: "skipped", reason: skipDetails.reason, message: skipDetails.message } },
  );
}

/** Whether the block follows from the cooldown or the observe mode of the workflow. */
function dependsOnEntry({ reason, cause }: Blocked): boolean {
  return reason === "ObserveOnly" || (reason === "RecentlyRemediated" && cause !== "backoff");
}

/** Observe mode is not a check of the policy: every check has passed. */
function toObservedBlock({ message, checks }: Allowed): Blocked {
  return {
    verdict: "block",
    reason: "ObserveOnly",
    message,
    nextStep: "to let it act, remove it from execution.observe, execution.observeTargets or the workflow's observe",
    requiresManualReview: false,
    checks,
  };
}

/** Returns why the execution is skipped, in the form of its status. */
function toSkipDetails(snapshot: Snapshot, plan: ValidPlan, decision: Blocked): SkipDetails {
  const { reason, holder, earlier, clearsAtMs } = decision;
  const target = plan.target.text;
  const details = {
    message: `${decision.message}. Next: ${decision.nextStep}`,
    skippedAt: skippedAt(snapshot, holder),
  };
  const recent = earlier && {
    recentRemediation: {
      name: earlier.executionName,
      namespace: earlier.executionNamespace,
      uid: earlier.executionUid,
      workflowId: snapshot.execution.spec.workflowRef.workflowId,
      targetResource: target,
      completedAt: earlier.completedAt,
      outcome: earlier.outcome,
      ...(clearsAtMs === undefined ? {} : { cooldownRemaining: formatRemaining(clearsAtMs - snapshot.nowMs) }),
    },
  };
  switch (reason) {
    case "ResourceBusy":
      return { reason, ...details, conflictingWorkflow: toConflict(holder as TargetHolder, target) };
    case "RecentlyRemediated": {
      const cooldownRemaining = formatRemaining((clearsAtMs ?? snapshot.nowMs) - snapshot.nowMs);
      return { reason, ...details, cause: decision.cause ?? "cooldown", cooldownRemaining, ...recent };
    }
    case "PreviousExecutionFailed":
    case "ExhaustedRetries":
      return { reason, ...details, ...recent };
    case "Paused":
    case "ObserveOnly":
      return { reason, ...details };
    case "NoMatchingRule":
    case "Ineffective":
    case "CauseOpen":
      throw new TypeError(`${reason} concerns incidents and cannot block an execution`);
  }
}

function toConflict(holder: TargetHolder, targetResource: string) {
  return {
    name: holder.executionName,
    namespace: holder.executionNamespace,
    uid: holder.executionUid,
    workflowId: holder.workflowId,
    targetResource,
    startedAt: holder.since,
  };
}

/**
 * Returns a time at which the holder held the target by any clock. The time was read before the record, so the holder was
 * admitted before that time or between the two reads.
 */
function skippedAt({ nowMs }: Snapshot, holder: TargetHolder | undefined): string {
  return iso(Math.max(nowMs, holder ? Date.parse(holder.since) : nowMs));
}
