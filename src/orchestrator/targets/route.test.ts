import { describe, expect, it } from "vitest";
import type { Decision } from "../../kube/index.ts";
import { defaultPolicy, type Pause } from "../../policy/index.ts";
import {
  annotationKeys,
  builtInKinds,
  lookUpEntry,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationRequestStatus,
  type RemediationTarget,
  type RemediationWorkflow,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { Action } from "../action.ts";
import { parseDiagnosedTarget } from "../observe.ts";
import { approvalNameFor, route } from "./route.ts";
import type { TargetView } from "./target-view.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");
const minute = 60_000;

describe("an incident that is routed with its target", () => {
  it.each<[string, RemediationRequest, Partial<TargetView>, string]>([
    ["gets an execution if no check blocks", waiting(), {}, "create rr-1-1"],
    [
      "whose workflow is not in the catalog is blocked",
      waiting(),
      { catalog: catalog(undefined) },
      "Blocked NoMatchingRule",
    ],
    [
      "whose workflow refuses the kind of its target is blocked at once",
      waiting(),
      { catalog: catalog(entry({ targetKinds: ["deployment"] })) },
      "Blocked NoMatchingRule",
    ],
    [
      "whose workflow lacks a parameter is blocked at once",
      waiting(),
      { catalog: catalog(entry({ parameters: { properties: { path: { type: "string" } }, required: ["path"] } })) },
      "Blocked NoMatchingRule",
    ],
    [
      "whose workflow has an unreadable pipeline is blocked at once",
      waiting(),
      {
        catalog: catalog({ ...entry(), status: { catalogStatus: "Invalid", problems: ["pipeline.yaml:3: no steps"] } }),
      },
      "Blocked NoMatchingRule",
    ],
    ["that was resolved is withdrawn", waiting({ resolvedAt: at(-1) }), {}, "Withdrawn ResolvedBeforeStart"],
    ["that is stale is withdrawn", waiting({ deduplication: lastSeen(-15) }), {}, "Withdrawn Stale"],
    [
      "refers to an execution that was created for it",
      waiting({ resolvedAt: at(-1) }),
      { executions: [execution("own", "Running", {}, "rr-uid")] },
      "Executing",
    ],
    [
      "ignores an execution of an earlier incident with the same name",
      waiting(),
      { executions: [execution("own", "Completed", {}, "other-uid")] },
      "create rr-1-1",
    ],

    [
      "does not refer to an earlier execution that was created again",
      withDeletedExecutions(2),
      { executions: [numbered(1, "Skipped"), numbered(2, "Failed")] },
      "create rr-1-3",
    ],
    [
      "waits until an earlier execution that was created again is deleted",
      withDeletedExecutions(2),
      { executions: [numbered(2, "Pending")] },
      "nothing",
    ],
    [
      "follows an earlier execution that was created again and runs",
      withDeletedExecutions(2),
      { executions: [numbered(1, "Running")] },
      "Executing follows back-1",
    ],
    [
      "refers to the next execution that was created for it",
      withDeletedExecutions(2),
      { executions: [numbered(3, "Pending")] },
      "Executing",
    ],

    [
      "follows an execution of the same work",
      waiting(),
      { executions: [execution("a", undefined)] },
      "Executing follows a",
    ],
    [
      "follows the holder of the target rather than a waiting execution",
      waiting(),
      { record: held("b"), executions: [execution("a", "Pending"), execution("b", "Running")] },
      "Executing follows b",
    ],
    [
      "follows the oldest of several executions of the same work",
      waiting(),
      { executions: [execution("b", "Pending"), { ...execution("a", "Pending"), ...older("a") }] },
      "Executing follows a",
    ],
    ["that is cancelled is not routed", cancelled(waiting()), {}, "nothing"],
    [
      "does not follow an execution with other parameters",
      waiting(),
      { executions: [execution("a", "Running", { keep: "9" })] },
      "Blocked ResourceBusy",
    ],
    [
      "does not follow an execution of another workflow",
      waiting(),
      { executions: [other(execution("a", "Pending"))] },
      "Blocked ResourceBusy",
    ],
    [
      "does not follow an execution that is being deleted",
      waiting(),
      { executions: [beingDeleted(execution("a", "Running"))] },
      "Blocked ResourceBusy",
    ],
    [
      "does not follow an execution that has ended",
      waiting(),
      { executions: [execution("a", "Completed")] },
      "create rr-1-1",
    ],
    [
      "waits until the end of an execution is in the record",
      waiting(),
      { executions: [unrecorded(execution("a", "Completed"))] },
      "Blocked ResourceBusy",
    ],

    [
      "that follows an execution waits for its end",
      following("a"),
      { executions: [execution("a", "Running")] },
      "nothing",
    ],
    [
      "that follows an execution shares its success",
      following("a"),
      { executions: [execution("a", "Completed")] },
      "Verifying",
    ],
    [
      "that follows an execution does not share its failure",
      following("a"),
      { executions: [execution("a", "Failed")] },
      "Analyzing",
    ],
    [
      "that follows an execution does not share its skip",
      following("a"),
      { executions: [execution("a", "Skipped")] },
      "Analyzing",
    ],
    ["that follows a deleted execution is decided again", following("a"), {}, "Analyzing"],

    [
      "waits while an incident of its cause is open",
      waiting(),
      { causesOf: () => [{ incident: "rr-cause-1", rule: "node-down", within: "node/worker-1" }] },
      "Blocked CauseOpen",
    ],
    ["waits while automation is paused", waiting(), { pauses: [pause()] }, "Blocked Paused"],
    [
      "stays blocked while nothing has changed",
      blocked("Paused", 'interlock resume freeze --reason "…"'),
      { pauses: [pause()] },
      "requeue in 14m",
    ],
    [
      "is blocked again when the holder changes",
      blocked("Paused", 'interlock resume older --reason "…"'),
      { pauses: [pause()] },
      "Blocked Paused",
    ],
    ["gets an execution when its block has ended", blocked("Paused", "x"), {}, "create rr-1-1"],
    [
      "is only observed in observe mode",
      waiting(),
      { settings: { ...settings(), observe: true } },
      "Completed Observed",
    ],

    ["whose workflow requires an approval requests it", waiting(), { catalog: approvalRequired() }, "AwaitingApproval"],
    [
      "that was approved gets an execution",
      waiting(),
      { catalog: approvalRequired(), approvals: approvalAnswered("Approved") },
      "create rr-1-1",
    ],
    [
      "that was not approved gets no execution",
      waiting(),
      { catalog: approvalRequired(), approvals: approvalAnswered("Rejected") },
      "AwaitingApproval",
    ],
    [
      "follows an execution without an approval",
      waiting(),
      { catalog: approvalRequired(), executions: [execution("a", "Running")] },
      "Executing follows a",
    ],

    ["that was skipped once is retried at once", skipped(1), { executions: skips(1) }, "create rr-1-2"],
    ["that was skipped twice is retried after a delay", skipped(2), { executions: skips(2) }, "requeue in 0m"],
    ["whose execution was invalid once is retried at once", skipped(1), { executions: fails(1) }, "create rr-1-2"],
    [
      "whose executions were invalid twice is retried after a delay",
      skipped(2),
      { executions: fails(2) },
      "requeue in 0m",
    ],
    [
      "whose runs failed has no additional delay, because the record counts failures",
      skipped(2),
      { executions: fails(2, { reason: "TaskRunFailed" }) },
      "create rr-1-3",
    ],
    [
      "is decided even if a failed execution has no details",
      skipped(2),
      { executions: fails(2, null) },
      "create rr-1-3",
    ],
    ["copies its acknowledgement to the record", acknowledged("old"), { record: failedBefore() }, "acknowledge"],
    [
      "copies its acknowledgement to the record although another check blocks, too",
      acknowledged("old"),
      { record: failedBefore(), pauses: [pause()] },
      "acknowledge",
    ],
    [
      "keeps its acknowledgement while the record has one that is not folded yet",
      acknowledged("old"),
      { record: withOtherAck(failedBefore()) },
      "requeue in 0m",
    ],
    [
      "copies its acknowledgement to the record once the other one is folded",
      acknowledged("old"),
      { record: withOtherAck(failedBefore(), { coversUntil: at(0) }) },
      "acknowledge",
    ],
    ["keeps its acknowledgement while the record is lost", acknowledged("old"), {}, "create rr-1-1"],
    [
      "keeps its acknowledgement while the record is being rebuilt",
      acknowledged("old"),
      { record: record(undefined) },
      "create rr-1-1",
    ],
    ["drops its acknowledgement when nothing waits for one", acknowledged("old"), { record: record({}) }, "drop-ack"],
    [
      "drops its acknowledgement when another execution has failed since",
      acknowledged("older"),
      { record: failedBefore() },
      "drop-ack",
    ],
    ["waits for a manual review", waiting(), { record: failedBefore() }, "Blocked PreviousExecutionFailed review"],
  ])("%s", (_what, incident, world, expected) => {
    expect(words(route(incident, view(world)))).toBe(expected);
  });

  it("is reconciled again when it becomes stale or when its block ends, whichever is first", () => {
    const until = (minutes: number) => ({ pauses: [pause(minutes)] });

    expect(route(blocked("Paused", 'interlock resume freeze --reason "…"', 3), view(until(3))).requeueAfterMs).toBe(
      3 * minute,
    );
    expect(route(blocked("Paused", 'interlock resume freeze --reason "…"', 30), view(until(30))).requeueAfterMs).toBe(
      14 * minute,
    );
  });

  it("that is blocked shares one notice with all incidents that are blocked by the same cause", () => {
    const notices = [waiting(), { ...waiting(), metadata: { ...waiting().metadata, name: "rr-2", uid: "rr-2" } }].map(
      (incident) =>
        route(incident, view({ pauses: [pause()] })).actions.find((action) => action.do === "notify")?.notice,
    );

    const [one, other] = notices;
    expect(one?.spec).toMatchObject({
      eventType: "IncidentBlocked",
      severity: "info",
      context: { skipReason: "Paused" },
    });
    expect(other?.metadata.name).toBe(one?.metadata.name);
  });

  it.each([
    ["requests an approval that does not exist", new Map(), 1],
    ["does not create the approval of an aborted attempt again", approvalAnswered(undefined), 0],
  ])("%s, and waits for it", (_what, approvals, created) => {
    const { actions } = route(waiting(), view({ catalog: approvalRequired(), approvals }));

    expect(actions.filter((action) => action.do === "create-approval")).toHaveLength(created);
    expect(actions).toContainEqual(expect.objectContaining({ do: "set-status" }));
  });

  it("that needs a manual review gets only the notice about the review", () => {
    const { actions } = route(waiting(), view({ record: failedBefore() }));

    const types = actions.flatMap((action) => (action.do === "notify" ? [action.notice.spec.eventType] : []));
    expect(types).toEqual(["ManualReviewRequired"]);
  });

  it("records its decision with every check, under the id in its block", () => {
    const { actions } = route(waiting(), view({ pauses: [pause()] }));

    const event = actions.flatMap((action) => (action.do === "record" ? [action.event] : []))[0];
    const status = actions.flatMap((action) => (action.do === "set-status" ? [action.status] : []))[0];
    expect(status && "block" in status && status.block.decision).toBe(event?.id);
    expect(event?.facts["checks"]).toHaveLength(9);
  });
});

/** Describes a decision by its first relevant action, or by its delay. */
function words({ actions, requeueAfterMs }: Decision<Action>): string {
  for (const action of actions) {
    if (action.do === "create-execution") return `create ${action.execution.metadata.name}`;
    if (action.do === "acknowledge" || action.do === "drop-ack") return action.do;
    if (action.do !== "set-status") continue;
    const { status } = action;
    const why = "block" in status ? status.block.reason : "outcome" in status ? status.outcome : "";
    const follows = status.follows && status.phase === "Executing" ? `follows ${status.follows.uid}` : "";
    return [status.phase, why, follows, status.requiresManualReview ? "review" : ""].filter(Boolean).join(" ");
  }
  return requeueAfterMs === undefined ? "nothing" : `requeue in ${Math.floor(requeueAfterMs / minute)}m`;
}

function view(world: Partial<TargetView>): TargetView {
  return {
    nowMs: now,
    target: parseDiagnosedTarget("node/worker-1", world.kinds ?? builtInKinds),
    record: undefined,
    executions: [],
    pauses: [],
    catalog: catalog(entry()),
    kinds: builtInKinds,
    causesOf: () => [],
    approvals: new Map(),
    settings: settings(),
    ...world,
  };
}

function settings(): TargetView["settings"] {
  return {
    ...defaultPolicy,
    staleAfterMs: 15 * minute,
    staleAfterBySource: new Map(),
    executionTimeoutMs: 60 * minute,
    approvalExpiresAfterMs: 60 * minute,
    verification: { graceMs: 2 * minute, windowMs: 15 * minute },
    notifyClosed: false,
    retentionMs: 24 * 60 * minute,
    engine: "local",
  };
}

function older(uid: string): Pick<WorkflowExecution, "metadata"> {
  return { metadata: { ...execution(uid, "Pending").metadata, creationTimestamp: at(-2) } };
}

function cancelled(incident: RemediationRequest): RemediationRequest {
  const annotations = { "kubernaut.ai/cancel-requested": "not now", "kubernaut.ai/cancel-requested-by": "kim" };
  return { ...incident, metadata: { ...incident.metadata, annotations } };
}

function waiting(status: object = {}, phase = "Analyzing"): RemediationRequest {
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "RemediationRequest",
    metadata: { name: "rr-1", namespace: "default", uid: "rr-uid", resourceVersion: "7", creationTimestamp: at(-1) },
    spec: {
      signalFingerprint: "disk",
      signalName: "DiskFull",
      severity: "critical",
      targetResource: { kind: "Node", name: "worker-1" },
      firingTime: at(-1),
      receivedTime: at(-1),
    },
    status: {
      phase,
      diagnosis: { target: "node/worker-1", workflowId: "cleanup" },
      ...status,
    } as RemediationRequestStatus,
  };
}

function following(uid: string): RemediationRequest {
  return waiting({ follows: { name: uid, namespace: "default", uid } }, "Executing");
}

/** The text around the command is that of another version. */
function blocked(reason: string, nextStep: string, untilMinutes?: number): RemediationRequest {
  const until = untilMinutes === undefined ? {} : { until: at(untilMinutes) };
  return waiting({ block: { reason, message: `no. Next: have patience, or: ${nextStep}`, ...until } }, "Blocked");
}

/** An incident that is blocked by the failure of an execution, which an operator acknowledged. */
function acknowledged(executionName: string): RemediationRequest {
  const incident = blocked("PreviousExecutionFailed", `interlock ack ${executionName} --reason "…"`);
  return { ...incident, metadata: { ...incident.metadata, annotations: { [annotationKeys.acknowledge]: "looked" } } };
}

/** An incident that refers to deleted executions. */
function withDeletedExecutions(times: number): RemediationRequest {
  const refs = Array.from({ length: times }, (_, i) => ({ name: `rr-1-${i + 1}`, namespace: "default", uid: `${i}` }));
  return waiting({ executionRefs: refs });
}

/** An execution of the incident with a uid to which the incident does not refer. */
function numbered(n: number, phase: string): WorkflowExecution {
  const made = execution(`back-${n}`, phase, {}, "rr-uid");
  return { ...made, metadata: { ...made.metadata, name: `rr-1-${n}` } };
}

function skipped(times: number): RemediationRequest {
  const refs = skips(times).map(({ metadata: { name = "", uid = "" } }) => ({ name, namespace: "default", uid }));
  return waiting({ executionRefs: refs });
}

function skips(times: number): readonly WorkflowExecution[] {
  return Array.from({ length: times }, (_, i) => execution(`s${i}`, "Skipped", {}, "rr-uid"));
}

function fails(times: number, details: object | null = { reason: "ValidationError" }): readonly WorkflowExecution[] {
  return skips(times).map((one) => {
    const { status } = execution(one.metadata.uid ?? "", "Failed", {}, "rr-uid");
    return { ...one, status: { ...status, ...(details && { failureDetails: details }) } as typeof status & object };
  });
}

function execution(uid: string, phase: string | undefined, parameters = {}, owner = "other-uid"): WorkflowExecution {
  const ended = phase === "Completed" || phase === "Failed";
  const recorded = { type: "Recorded", status: "True", reason: "x", message: "", lastTransitionTime: at(0) };
  const status = {
    phase,
    ...(ended ? { completionTime: at(0), conditions: [recorded] } : {}),
    ...(phase === "Skipped" ? { skipDetails: { reason: "Paused", message: "", skippedAt: at(0) } } : {}),
  };
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "WorkflowExecution",
    metadata: {
      name: `rr-1-${uid}`,
      namespace: "default",
      uid,
      creationTimestamp: at(-1),
      ownerReferences: [{ apiVersion: "v1", kind: "RemediationRequest", name: "rr-1", uid: owner, controller: true }],
    },
    spec: { workflowRef: { workflowId: "cleanup", containerImage: "x" }, targetResource: "node/worker-1", parameters },
    ...(phase ? { status: status as NonNullable<WorkflowExecution["status"]> } : {}),
  };
}

function other(one: WorkflowExecution): WorkflowExecution {
  return { ...one, spec: { ...one.spec, workflowRef: { workflowId: "reboot", containerImage: "x" } } };
}

function beingDeleted(one: WorkflowExecution): WorkflowExecution {
  return { ...one, metadata: { ...one.metadata, deletionTimestamp: at(0) } };
}

function unrecorded(one: WorkflowExecution): WorkflowExecution {
  return { ...one, status: { ...one.status, conditions: [] } as NonNullable<WorkflowExecution["status"]> };
}

function record(status: RemediationTarget["status"]): RemediationTarget {
  const metadata = { name: "hash", namespace: "default" };
  const spec = { targetResource: "node/worker-1" };
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "RemediationTarget",
    metadata,
    spec,
    ...(status ? { status } : {}),
  };
}

function held(uid: string): RemediationTarget {
  const names = { executionName: uid, executionNamespace: "default", workflowId: "cleanup" };
  return record({ holder: { executionUid: uid, ...names, engine: "local", since: at(-1) } });
}

function failedBefore(): RemediationTarget {
  const end = {
    executionUid: "old",
    executionName: "old",
    executionNamespace: "default",
    outcome: "Failed" as const,
    completedAt: at(-9),
    wasExecutionFailure: true,
  };
  const history = { workflowId: "cleanup", consecutiveFailures: 0, lastExecutionFailure: end, recentEnds: [end] };
  return record({ workflows: [history] });
}

/** A record that also has a failure of another workflow, and its acknowledgement. `folded`: as the status has it. */
function withOtherAck(record: RemediationTarget, folded?: object): RemediationTarget {
  const { workflows = [] } = record.status ?? {};
  const ends = workflows.flatMap(({ recentEnds }) => recentEnds.map((end) => ({ ...end, executionUid: "other" })));
  const other = { workflowId: "reboot", consecutiveFailures: 0, recentEnds: ends, ...(folded && { ack: folded }) };
  const annotations = { [annotationKeys.acknowledgedExecution]: "other", [annotationKeys.acknowledge]: "looked" };
  const status = { ...record.status, workflows: [...workflows, other] } as RemediationTarget["status"];
  return { ...record, metadata: { ...record.metadata, annotations }, ...(status && { status }) };
}

function pause(untilMinutes?: number): Pause {
  const until = untilMinutes === undefined ? {} : { until: at(untilMinutes) };
  return { name: "freeze", spec: { scope: "All", reason: "maintenance", requestedBy: "kim", ...until } };
}

function entry(spec: Partial<RemediationWorkflow["spec"]> = {}): RemediationWorkflow {
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "RemediationWorkflow",
    metadata: { name: "cleanup-1", namespace: "default" },
    spec: { workflowId: "cleanup", version: "1", description: "d", containerImage: "x", pipeline: "workflow", ...spec },
  };
}

function catalog(only: RemediationWorkflow | undefined): TargetView["catalog"] {
  return {
    find: () => only,
    lookUp: () => (only ? lookUpEntry([only], { workflowId: "cleanup" }, builtInKinds) : { kind: "unknown" }),
  };
}

function approvalRequired(): TargetView["catalog"] {
  return catalog(entry({ approval: { required: true } }));
}

/** An approval with the answer, or without one. */
function approvalAnswered(decision: "Approved" | "Rejected" | undefined): TargetView["approvals"] {
  const name = approvalNameFor(waiting(), view({}));
  const status = decision && { status: { decision, decidedAt: at(0) } };
  const recommendedWorkflow = { workflowId: "cleanup", version: "1.0.0" };
  const spec = { requiredBy: at(9), targetResource: "node/a", recommendedWorkflow };
  const approval = { metadata: { name }, spec, ...status };
  return new Map([[name, approval as unknown as RemediationApprovalRequest]]);
}

function lastSeen(minutes: number) {
  return { firstSeenAt: at(-60), lastSeenAt: at(minutes), occurrenceCount: 2 };
}

function at(minutes: number): string {
  return new Date(now + minutes * minute).toISOString();
}
