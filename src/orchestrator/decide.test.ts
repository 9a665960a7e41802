import { describe, expect, it } from "vitest";
import type { Decision } from "../kube/index.ts";
import { defaultPolicy } from "../policy/index.ts";
import {
  annotationKeys,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationRequestStatus,
  type RemediationWorkflow,
  type WorkflowExecution,
} from "../resources/index.ts";
import type { Action } from "./action.ts";
import { decide } from "./decide.ts";
import type { OrchestratorSettings } from "./settings.ts";
import type { Snapshot } from "./snapshot.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");
const minute = 60_000;

describe("an incident", () => {
  it.each<[string, Partial<Snapshot>, string]>([
    ["that is new is diagnosed", {}, "Analyzing"],
    ["that no rule matches is blocked", { analysis: noMatch() }, "Blocked NoMatchingRule"],
    [
      "that is new and already resolved is withdrawn",
      { incident: incident(undefined, { resolvedAt: at(-1) }) },
      "Withdrawn ResolvedBeforeStart",
    ],
    [
      "that was not reported for a long time is withdrawn",
      { incident: incident(undefined, {}, at(-15)) },
      "Withdrawn Stale",
    ],
    ["that was reported again is not stale", { incident: incident(undefined, seenAgain(-14), at(-60)) }, "Analyzing"],
    [
      "that was blocked without a rule stays blocked while no rule matches",
      { incident: unmatched(), analysis: noMatch() },
      "requeue in 14m",
    ],
    [
      "that was blocked without a rule and has no new analysis waits until it is stale",
      { incident: unmatched(), analysis: undefined },
      "requeue in 14m",
    ],
    [
      "that was blocked without a rule and depends on facts waits until they are read again",
      { incident: unmatched(), analysis: undefined, recheckAtMs: now + minute },
      "requeue in 1m",
    ],
    [
      "that was blocked without a rule and has no new analysis is withdrawn when it is stale",
      { incident: incident("Blocked", { ...unmatched().status }, at(-15)), analysis: undefined },
      "Withdrawn Stale",
    ],
    ["that was blocked without a rule is diagnosed when a rule matches", { incident: unmatched() }, "Analyzing"],
    [
      "that was blocked without a rule is withdrawn when it is resolved",
      { incident: unmatched({ resolvedAt: at(0) }) },
      "Withdrawn ResolvedBeforeStart",
    ],
    [
      "with a diagnosis is routed with its target",
      { incident: incident("Analyzing", { diagnosis: diagnosis() }) },
      "nothing",
    ],
    [
      "that follows an execution is routed with its target",
      { incident: incident("Executing", { diagnosis: diagnosis(), follows: ref("other") }) },
      "nothing",
    ],
    [
      "that is being deleted is ignored",
      { incident: { ...incident(), metadata: { deletionTimestamp: at(0) } } },
      "nothing",
    ],

    ["that waits for an approval waits until it expires", asking(), "requeue in 30m"],
    [
      "whose approval was not answered in time expires it",
      { ...asking(), nowMs: now + 30 * minute },
      "expire-approval",
    ],
    ["that was approved is decided again", asking(answered("Approved")), "Analyzing"],
    ["that was approved too late is closed", asking(answered("Approved", 31)), "Failed ApprovalExpired"],
    ["that was rejected is closed", asking(answered("Rejected")), "Failed ApprovalRejected"],
    ["whose approval expired is closed", asking({ decision: "Expired", decidedAt: at(0) }), "Failed ApprovalExpired"],
    ["whose approval was deleted is decided again", { ...asking(), approval: undefined }, "Analyzing"],
    [
      "that is resolved before an answer is withdrawn",
      {
        ...asking(answered("Approved")),
        incident: incident("AwaitingApproval", { diagnosis: diagnosis(), resolvedAt: at(0) }),
      },
      "Withdrawn ResolvedDuringApproval",
    ],

    ["whose execution is new waits until its timeout", running(undefined), "requeue in 59m"],
    ["whose execution runs waits until its timeout", running({ phase: "Running" }), "requeue in 59m"],
    [
      "whose execution exceeds the timeout is closed",
      { ...running({ phase: "Running" }), nowMs: now + 59 * minute },
      "Failed TimedOut review",
    ],
    ["whose execution was deleted is decided again", { ...running({}), execution: undefined }, "Analyzing"],
    ["whose execution succeeded is verified", running({ phase: "Completed", completionTime: at(0) }), "Verifying"],
    [
      "that was resolved during its run is closed",
      running({ phase: "Completed", completionTime: at(0) }, { resolvedAt: at(-1) }),
      "Completed ResolvedDuringRun",
    ],
    [
      "that was resolved after its run is closed",
      running({ phase: "Completed", completionTime: at(-2) }, { resolvedAt: at(-1) }),
      "Completed Remediated",
    ],
    ["whose execution failed during execution is closed", running(failure(true)), "Failed ExecutionFailed review"],
    ["whose execution failed before execution is decided again", running(failure(false)), "Analyzing"],
    ["whose execution failed because it was deleted is decided again", deletedRun(), "Analyzing"],
    ["whose execution was skipped is blocked for the same reason", running(skip()), "Blocked ResourceBusy"],

    ["that is verified waits until the window ends", { incident: watched(-1) }, "requeue in 14m"],
    [
      "that was reported within the grace period waits until the window ends",
      { incident: watched(-3, seenAgain(-1)) },
      "requeue in 12m",
    ],
    [
      "that was reported after the grace period is decided again",
      { incident: watched(-4, seenAgain(-1)) },
      "Analyzing",
    ],
    ["that was not reported until the window ended is Remediated", { incident: watched(-15) }, "Completed Remediated"],
    [
      "that was not reported, from a source that rarely repeats, is Inconclusive",
      { incident: fromAlertmanager(watched(-15)) },
      "Completed Inconclusive",
    ],
    [
      "that is resolved during the verification is Remediated",
      { incident: watched(-3, { resolvedAt: at(-1) }) },
      "Completed Remediated",
    ],

    ["deletes an earlier execution that was created again", late(undefined), "delete-execution"],
    [
      "deletes an earlier execution that was created again and is not admitted yet",
      late("Pending"),
      "delete-execution",
    ],
    ["keeps an earlier execution that was created again and runs", late("Running"), "requeue in 59m"],
    [
      "ignores an earlier execution that was created again and is being deleted",
      late("Pending", at(0)),
      "requeue in 59m",
    ],
    [
      "keeps the executions that it refers to",
      { ...running({ phase: "Pending" }), unfinished: [execution({ phase: "Pending" })] },
      "requeue in 59m",
    ],

    ["that is closed records its end", { incident: closed({}, false) }, "record, set-status"],
    [
      "that is closed deletes an execution that still runs",
      { incident: closed(), unfinished: [execution(undefined)] },
      "delete-execution",
    ],
    [
      "that is closed expires an open approval",
      { incident: closed(), approval: asking().approval as RemediationApprovalRequest },
      "expire-approval",
    ],
    ["that is closed and the newest is kept until its retention ends", { incident: closed() }, "requeue in 23h59m"],
    [
      "that is the newest becomes a tombstone after its retention",
      { incident: closed({}, true, -24 * 60) },
      "set-status, strip-incident",
    ],
    ["that is a tombstone and the newest is kept", { incident: tombstone() }, "nothing"],
    [
      "that is a tombstone and not the newest is deleted",
      { incident: tombstone(), isNewest: false },
      "record, delete-incident",
    ],
    [
      "that is closed and not the newest is kept until its retention ends",
      { incident: closed(), isNewest: false },
      "requeue in 23h59m",
    ],
    [
      "that is not the newest is deleted after its retention",
      { incident: closed({}, true, -24 * 60), isNewest: false },
      "record, delete-incident",
    ],
  ])("%s", (_what, world, expected) => {
    expect(words(decide(snapshot(world)))).toBe(expected);
  });

  it("keeps the fields that the gateway writes", () => {
    const deduplication = { firstSeenAt: at(-3), lastSeenAt: at(-1), occurrenceCount: 7 };
    const phases = [
      incident(undefined, { deduplication }),
      unmatched({ deduplication }),
      watched(-15, { deduplication }),
    ];

    for (const one of phases) {
      const [status] = decide(snapshot({ incident: one })).actions.flatMap((action) =>
        action.do === "set-status" ? [action.status] : [],
      );
      expect(status?.deduplication).toEqual(deduplication);
    }
  });
});

describe("an incident that is diagnosed again while an execution is created for it", () => {
  const moved = { ...diagnosis(), target: "node/other" };

  it("refers to that execution, with the diagnosis of the execution", () => {
    const { actions } = decide(
      snapshot({ incident: incident("Blocked", { diagnosis: moved }), unfinished: [execution({})] }),
    );

    expect(actions).toMatchObject([
      {
        do: "set-status",
        status: { phase: "Executing", diagnosis: { target: "node/worker-1", workflowId: "cleanup" } },
      },
    ]);
  });

  it("is not diagnosed again while that execution may still act", () => {
    const analysis = { kind: "diagnosed" as const, diagnosis: moved, rule: "disk" };
    const waiting = incident("Blocked", { diagnosis: diagnosis() });

    expect(decide(snapshot({ incident: waiting, analysis, unfinished: [execution({})] })).actions).toEqual([]);
    expect(decide(snapshot({ incident: waiting, analysis })).actions).toMatchObject([
      { do: "record" },
      { do: "set-status", status: { phase: "Analyzing", diagnosis: moved } },
      { do: "announce" },
    ]);
  });
});

describe("a notice", () => {
  it("is created for each incident that no rule matches", () => {
    const [notice] = noticesIn(decide(snapshot({ analysis: noMatch() })));

    expect(notice?.spec).toMatchObject({
      eventType: "IncidentBlocked",
      severity: "info",
      message: expect.stringContaining("DiskFull waits: "),
      context: { skipReason: "NoMatchingRule", nextStep: expect.anything() },
      remediationRequestRef: { name: "rr-1" },
    });
  });

  it.each([
    ["is not answered", { decision: "Expired", decidedAt: at(0) } as const],
    ["is given too late", answered("Approved", 31)],
  ])("is created when an approval %s", (_what, status) => {
    const [notice] = noticesIn(decide(snapshot(asking(status))));

    expect(notice?.spec).toMatchObject({ eventType: "ApprovalExpired", severity: "warning" });
  });

  it("is not created when an approval is rejected", () => {
    expect(noticesIn(decide(snapshot(asking(answered("Rejected")))))).toEqual([]);
  });

  it.each([
    [true, ["IncidentClosed"]],
    [false, []],
  ])("is created when an incident is closed, if incidents.notifyClosed is %s", (notifyClosed, types) => {
    const next = decide(snapshot({ incident: closed({}, false), settings: { ...settings, notifyClosed } }));

    expect(noticesIn(next).map(({ spec }) => spec.eventType)).toEqual(types);
  });
});

describe("the ledger row of a diagnosis", () => {
  const parameters = { pin: "hunter22", apiToken: "tok-12345", mode: "quick" };
  const properties = { pin: { type: "string", secret: true }, apiToken: { type: "string" }, mode: { type: "string" } };

  it("contains no secret parameter", () => {
    expect(recordedParameters(entry(properties))).toEqual({
      pin: "[redacted]",
      apiToken: "[redacted]",
      mode: "quick",
    });
  });

  it("contains no parameter that the catalog does not declare, because it may be a secret", () => {
    const all = { pin: "[redacted]", apiToken: "[redacted]", mode: "[redacted]" };

    expect(recordedParameters(undefined)).toEqual(all);
    expect(recordedParameters(entry({}))).toEqual(all);
  });

  function recordedParameters(workflow: RemediationWorkflow | undefined) {
    const analysis = { kind: "diagnosed", diagnosis: { ...diagnosis(), parameters }, rule: "disk" } as const;
    const [event] = decide(snapshot({ analysis, workflow })).actions.flatMap((action) =>
      action.do === "record" ? [action.event] : [],
    );
    expect(event?.type).toBe("incident.diagnosed");
    return event?.facts["parameters"];
  }

  function entry(declared: object): RemediationWorkflow {
    const spec = { workflowId: "cleanup", version: "1", description: "", containerImage: "x", pipeline: "workflow" };
    return { metadata: {}, spec: { ...spec, parameters: { properties: declared } } } as never;
  }
});

function noticesIn({ actions }: Decision<Action>) {
  return actions.flatMap((action) => (action.do === "notify" ? [action.notice] : []));
}

/** Describes a decision by its first relevant action, or by its delay. */
function words({ actions, requeueAfterMs }: Decision<Action>): string {
  const status = actions.flatMap((action) => (action.do === "set-status" ? [action.status] : []))[0];
  if (status && !status.conditions?.some(({ type }) => type === "Recorded")) {
    const why = "block" in status ? status.block.reason : "outcome" in status ? status.outcome : "";
    return [status.phase, why, status.requiresManualReview ? "review" : ""].filter(Boolean).join(" ");
  }
  const done = actions.map((action) => action.do).filter((what) => what !== "announce");
  if (done.length > 0) return done.join(", ");
  if (requeueAfterMs === undefined) return "nothing";
  const minutes = Math.round(requeueAfterMs / minute);
  return `requeue in ${minutes >= 60 ? `${Math.floor(minutes / 60)}h${minutes % 60}m` : `${minutes}m`}`;
}

const settings: OrchestratorSettings = {
  ...defaultPolicy,
  staleAfterMs: 15 * minute,
  staleAfterBySource: new Map([["alertmanager", 300 * minute]]),
  executionTimeoutMs: 60 * minute,
  approvalExpiresAfterMs: 60 * minute,
  verification: { graceMs: 2 * minute, windowMs: 15 * minute },
  notifyClosed: false,
  retentionMs: 24 * 60 * minute,
  engine: "local",
};

function snapshot(world: Partial<Snapshot>): Snapshot {
  return {
    nowMs: now,
    incident: incident(),
    analysis: { kind: "diagnosed", diagnosis: diagnosis(), rule: "disk" },
    analysisVersion: "",
    execution: undefined,
    unfinished: [],
    approval: undefined,
    workflow: undefined,
    isNewest: true,
    settings,
    ...world,
  };
}

function incident(
  phase?: RemediationRequestStatus["phase"],
  status: object = {},
  receivedTime = at(-1),
): RemediationRequest {
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "RemediationRequest",
    metadata: { name: "rr-1", namespace: "default", uid: "rr-uid", resourceVersion: "7" },
    spec: {
      signalFingerprint: "disk",
      signalName: "DiskFull",
      severity: "critical",
      targetResource: { kind: "Node", name: "worker-1" },
      firingTime: receivedTime,
      receivedTime,
    },
    ...(phase || Object.keys(status).length > 0
      ? { status: { phase: phase ?? "Pending", ...status } as RemediationRequestStatus }
      : {}),
  };
}

function seenAgain(minutes: number) {
  return { deduplication: { firstSeenAt: at(-60), lastSeenAt: at(minutes), occurrenceCount: 2 } };
}

function unmatched(status: object = {}): RemediationRequest {
  return incident("Blocked", { block: { reason: "NoMatchingRule", message: "no rule" }, ...status });
}

function watched(completed: number, status: object = {}): RemediationRequest {
  const executed = {
    type: "Executed",
    status: "True",
    reason: "Completed",
    message: "",
    lastTransitionTime: at(completed),
  };
  return incident("Verifying", { diagnosis: diagnosis(), conditions: [executed], ...status }, at(-30));
}

function closed(status: object = {}, isRecorded = true, completed = -1): RemediationRequest {
  const recorded = { type: "Recorded", status: "True", reason: "Completed", message: "", lastTransitionTime: at(0) };
  const conditions = isRecorded ? { conditions: [recorded] } : {};
  return incident("Completed", { outcome: "Remediated", completedAt: at(completed), ...conditions, ...status });
}

function tombstone(): RemediationRequest {
  const one = closed({}, true, -24 * 60);
  return { ...one, metadata: { ...one.metadata, annotations: { [annotationKeys.tombstone]: "true" } } };
}

function fromAlertmanager(one: RemediationRequest): RemediationRequest {
  return { ...one, spec: { ...one.spec, signalSource: "alertmanager" } };
}

function asking(status?: RemediationApprovalRequest["status"]): Partial<Snapshot> {
  const approval: RemediationApprovalRequest = {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "RemediationApprovalRequest",
    metadata: { name: "rr-1-1", namespace: "default" },
    spec: {
      remediationRequestRef: { name: "rr-1" },
      targetResource: "node/worker-1",
      recommendedWorkflow: { workflowId: "cleanup" },
      whyApprovalRequired: "because",
      requiredBy: at(30),
    },
    ...(status ? { status } : {}),
  };
  return { incident: incident("AwaitingApproval", { diagnosis: diagnosis() }), approval };
}

function answered(decision: "Approved" | "Rejected", minutes = 0): RemediationApprovalRequest["status"] {
  return { decision, decidedBy: "kim", decidedAt: at(minutes), decisionMessage: "looked" };
}

function execution(status: object | undefined): WorkflowExecution {
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "WorkflowExecution",
    metadata: { name: "rr-1-1", namespace: "default", uid: "run", creationTimestamp: at(-1) },
    spec: { workflowRef: { workflowId: "cleanup", containerImage: "x" }, targetResource: "node/worker-1" },
    ...(status ? { status: status as NonNullable<WorkflowExecution["status"]> } : {}),
  };
}

function running(status: object | undefined, more: object = {}): Partial<Snapshot> {
  const refs = { diagnosis: diagnosis(), executionRefs: [ref("run")] };
  return { incident: incident("Executing", { ...refs, ...more }), execution: execution(status) };
}

/** It refers to its second execution; the first was deleted, and created again. */
function late(phase: string | undefined, deletionTimestamp?: string): Partial<Snapshot> {
  const again = execution(phase ? { phase } : undefined);
  const metadata = { ...again.metadata, uid: "again", ...(deletionTimestamp ? { deletionTimestamp } : {}) };
  const refs = { executionRefs: [ref("first"), ref("run")] };
  return { ...running({ phase: "Running" }, refs), unfinished: [{ ...again, metadata }] };
}

function deletedRun(): Partial<Snapshot> {
  const failed = execution(failure(true));
  return { ...running({}), execution: { ...failed, metadata: { ...failed.metadata, deletionTimestamp: at(0) } } };
}

function failure(wasExecutionFailure: boolean) {
  return {
    phase: "Failed",
    failureDetails: { reason: "TaskRunFailed", wasExecutionFailure, naturalLanguageSummary: "it failed" },
  };
}

function skip() {
  const conflictingWorkflow = {
    ...ref("other"),
    workflowId: "reboot",
    targetResource: "node/worker-1",
    startedAt: at(-1),
  };
  return {
    phase: "Skipped",
    skipDetails: { reason: "ResourceBusy", message: "busy", skippedAt: at(0), conflictingWorkflow },
  };
}

function ref(uid: string) {
  return { name: `execution-${uid}`, namespace: "default", uid };
}

function diagnosis() {
  return { target: "node/worker-1", workflowId: "cleanup", rule: "disk" };
}

function noMatch() {
  return { kind: "no-match" as const, tried: ["disk (signalName is MemoryFull)"] };
}

function at(minutes: number): string {
  return new Date(now + minutes * minute).toISOString();
}

describe("an incident that an operator cancels", () => {
  it("is closed", () => {
    const { metadata, ...rest } = incident();
    const annotations = { "kubernaut.ai/cancel-requested": "not now", "kubernaut.ai/cancel-requested-by": "kim" };
    const { actions } = decide(snapshot({ incident: { ...rest, metadata: { ...metadata, annotations } } }));

    expect(actions).toContainEqual(
      expect.objectContaining({ do: "set-status", status: expect.objectContaining({ outcome: "Cancelled" }) }),
    );
  });

  it("through its execution is closed, and no failure is reported", () => {
    const cancellation = { by: "kim", reason: "not now" };
    const failureDetails = { reason: "Cancelled", message: "", wasExecutionFailure: false, cancellation };
    const { actions } = decide(
      snapshot({
        incident: incident("Executing", { diagnosis: diagnosis(), executionRefs: [{ name: "rr-1-1", uid: "run" }] }),
        execution: execution({ phase: "Failed", completionTime: at(0), failureDetails }),
      }),
    );

    expect(actions).toContainEqual(
      expect.objectContaining({ do: "set-status", status: expect.objectContaining({ outcome: "Cancelled" }) }),
    );
  });
});

describe("the time that an incident", () => {
  const hour = 60 * minute;

  it("waits for its execution is at least the timeout of the workflow", () => {
    const workflow = { spec: { workflowId: "cleanup", timeout: "10h" } } as NonNullable<Snapshot["workflow"]>;
    const { requeueAfterMs } = decide(
      snapshot({
        incident: incident("Executing", { diagnosis: diagnosis(), executionRefs: [{ name: "rr-1-1", uid: "run" }] }),
        execution: execution({ phase: "Running" }),
        unfinished: [execution({ phase: "Running" })],
        workflow,
      }),
    );

    expect(requeueAfterMs).toBeGreaterThan(9 * hour);
  });

  it("is kept is at least the cooldown of the workflow", () => {
    const workflow = { spec: { workflowId: "cleanup", cooldown: "9000h" } } as NonNullable<Snapshot["workflow"]>;
    const recorded = { type: "Recorded", status: "True", reason: "x", message: "", lastTransitionTime: at(0) };
    const closed = incident("Completed", { outcome: "Remediated", completedAt: at(0), conditions: [recorded] });

    expect(decide(snapshot({ incident: closed, workflow })).requeueAfterMs).toBe(9_000 * hour);
  });
});
