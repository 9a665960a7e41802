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

describe("the next step of an incident", () => {
  it.each<[string, Partial<Snapshot>, string]>([
    ["that is new is to find out what to do", {}, "Analyzing"],
    ["that no rule fits is to wait", { analysis: noMatch() }, "Blocked NoMatchingRule"],
    [
      "that is new, and over, is to close it",
      { incident: incident(undefined, { resolvedAt: at(-1) }) },
      "Withdrawn ResolvedBeforeStart",
    ],
    [
      "that was not heard of for long is to close it",
      { incident: incident(undefined, {}, at(-15)) },
      "Withdrawn Stale",
    ],
    ["that was reported again is to go on", { incident: incident(undefined, seenAgain(-14), at(-60)) }, "Analyzing"],
    ["that no rule fitted is nothing", { incident: unmatched(), analysis: noMatch() }, "look again in 14m"],
    [
      "that no rule fitted, and that was not analyzed again, is nothing until it is stale",
      { incident: unmatched(), analysis: undefined },
      "look again in 14m",
    ],
    [
      "that no rule fitted, and that depends on facts, is nothing until they are read again",
      { incident: unmatched(), analysis: undefined, recheckAtMs: now + minute },
      "look again in 1m",
    ],
    [
      "that no rule fitted, and that was not analyzed again, is to close it when it is stale",
      { incident: incident("Blocked", { ...unmatched().status }, at(-15)), analysis: undefined },
      "Withdrawn Stale",
    ],
    ["that a rule fits by now is to go on", { incident: unmatched() }, "Analyzing"],
    [
      "that no rule fitted, and that is over, is to close it",
      { incident: unmatched({ resolvedAt: at(0) }) },
      "Withdrawn ResolvedBeforeStart",
    ],
    [
      "with a diagnosis is up to its target",
      { incident: incident("Analyzing", { diagnosis: diagnosis() }) },
      "nothing",
    ],
    [
      "that follows is up to its target",
      { incident: incident("Executing", { diagnosis: diagnosis(), follows: ref("other") }) },
      "nothing",
    ],
    [
      "that is being deleted is nothing",
      { incident: { ...incident(), metadata: { deletionTimestamp: at(0) } } },
      "nothing",
    ],

    ["that waits for a person is to wait", asking(), "look again in 30m"],
    ["whose question nobody answered is to end it", { ...asking(), nowMs: now + 30 * minute }, "expire-approval"],
    ["that a person agreed to is to decide again", asking(answered("Approved")), "Analyzing"],
    ["that a person agreed to too late is to close it", asking(answered("Approved", 31)), "Failed ApprovalExpired"],
    ["that a person refused is to close it", asking(answered("Rejected")), "Failed ApprovalRejected"],
    [
      "whose question was ended is to close it",
      asking({ decision: "Expired", decidedAt: at(0) }),
      "Failed ApprovalExpired",
    ],
    ["whose question is gone is to decide again", { ...asking(), approval: undefined }, "Analyzing"],
    [
      "that is over before an answer is to close it",
      {
        ...asking(answered("Approved")),
        incident: incident("AwaitingApproval", { diagnosis: diagnosis(), resolvedAt: at(0) }),
      },
      "Withdrawn ResolvedDuringApproval",
    ],

    ["whose execution is new is to wait", running(undefined), "look again in 59m"],
    ["whose execution runs is to wait", running({ phase: "Running" }), "look again in 59m"],
    [
      "whose execution takes too long is to close it",
      { ...running({ phase: "Running" }), nowMs: now + 59 * minute },
      "Failed TimedOut review",
    ],
    ["whose execution is gone is to decide again", { ...running({}), execution: undefined }, "Analyzing"],
    ["whose execution succeeded is to watch", running({ phase: "Completed", completionTime: at(0) }), "Verifying"],
    [
      "that was over before its run had ended is to close it",
      running({ phase: "Completed", completionTime: at(0) }, { resolvedAt: at(-1) }),
      "Completed ResolvedDuringRun",
    ],
    [
      "that was over after its run had ended is to close it",
      running({ phase: "Completed", completionTime: at(-2) }, { resolvedAt: at(-1) }),
      "Completed Remediated",
    ],
    ["whose execution failed while acting is to close it", running(failure(true)), "Failed ExecutionFailed review"],
    ["whose execution failed before acting is to decide again", running(failure(false)), "Analyzing"],
    ["whose execution failed because it was deleted is to decide again", deletedRun(), "Analyzing"],
    ["whose execution was skipped is to wait for the same reason", running(skip()), "Blocked ResourceBusy"],

    ["that is watched is to watch on", { incident: watched(-1) }, "look again in 14m"],
    ["that came again within the grace is to watch on", { incident: watched(-3, seenAgain(-1)) }, "look again in 12m"],
    ["that came again after the grace is to decide again", { incident: watched(-4, seenAgain(-1)) }, "Analyzing"],
    ["that was quiet until the end is to close it", { incident: watched(-15) }, "Completed Remediated"],
    [
      "that was quiet, from a source that seldom speaks, is to close it",
      { incident: fromAlertmanager(watched(-15)) },
      "Completed Inconclusive",
    ],
    [
      "that is over after its run is to close it",
      { incident: watched(-3, { resolvedAt: at(-1) }) },
      "Completed Remediated",
    ],

    ["to which one comes back that it went on without is to remove that", late(undefined), "delete-execution"],
    ["to which one comes back that was not admitted yet is to remove that", late("Pending"), "delete-execution"],
    ["to which one comes back that acts already is to let it be", late("Running"), "look again in 59m"],
    ["to which one comes back that is on its way out is to let it go", late("Pending", at(0)), "look again in 59m"],
    [
      "is never to remove what it knows",
      { ...running({ phase: "Pending" }), unfinished: [execution({ phase: "Pending" })] },
      "look again in 59m",
    ],

    ["that is closed is to tell it", { incident: closed({}, false) }, "record, set-status"],
    [
      "that is closed, with a run that goes on, is to stop that",
      { incident: closed(), unfinished: [execution(undefined)] },
      "delete-execution",
    ],
    [
      "that is closed, with an open question, is to end that",
      { incident: closed(), approval: asking().approval as RemediationApprovalRequest },
      "expire-approval",
    ],
    ["that is closed, and the newest, is to keep it for a while", { incident: closed() }, "look again in 23h59m"],
    [
      "that is the newest, and was kept long enough, is to make a tombstone of it",
      { incident: closed({}, true, -24 * 60) },
      "set-status, strip-incident",
    ],
    ["that is a tombstone, and the newest, is nothing", { incident: tombstone() }, "nothing"],
    [
      "that is a tombstone, and not the newest, is to remove it",
      { incident: tombstone(), isNewest: false },
      "record, delete-incident",
    ],
    [
      "that is closed, and not the newest, is to keep it for a while",
      { incident: closed(), isNewest: false },
      "look again in 23h59m",
    ],
    [
      "that was kept long enough is to remove it",
      { incident: closed({}, true, -24 * 60), isNewest: false },
      "record, delete-incident",
    ],
  ])("%s", (_what, world, expected) => {
    expect(words(decide(snapshot(world)))).toBe(expected);
  });

  it("never touches what the gateway writes", () => {
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

describe("an incident that is diagnosed again at the moment in which an execution is made for it", () => {
  const moved = { ...diagnosis(), target: "node/other" };

  it("notes that execution, with the diagnosis by which it was made", () => {
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

  it("is not created when a person rejects an approval", () => {
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

  it("has no secret parameter in it", () => {
    expect(recordedParameters(entry(properties))).toEqual({
      pin: "[redacted]",
      apiToken: "[redacted]",
      mode: "quick",
    });
  });

  it("has no parameter that the catalog does not declare: each may be a secret", () => {
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

/** What a turn comes to, in a few words. */
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
  return `look again in ${minutes >= 60 ? `${Math.floor(minutes / 60)}h${minutes % 60}m` : `${minutes}m`}`;
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

function closed(status: object = {}, told = true, completed = -1): RemediationRequest {
  const recorded = { type: "Recorded", status: "True", reason: "Completed", message: "", lastTransitionTime: at(0) };
  const conditions = told ? { conditions: [recorded] } : {};
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

/** It goes on with its second execution; the first was deleted, and is there again. */
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
