import { describe, expect, it } from "vitest";
import type {
  AutomationPause,
  CodingTask,
  NotificationRequest,
  ReadHeartbeat,
  RemediationRequest,
  RemediationTarget,
  WorkflowExecution,
} from "../../../resources/index.ts";
import { assess } from "./assess.ts";
import type { StatusSnapshot } from "./findings.ts";

const nowMs = Date.parse("2026-03-01T12:00:00Z");
const minute = 60_000;

describe("an installation", () => {
  it("is healthy with all stages at work, and has nine lines below the verdict", () => {
    const report = assess(snapshot());

    expect(report).toMatchObject({ isHealthy: true, problems: [], notes: [] });
    expect(Object.keys(report.lines)).toHaveLength(9);
  });

  it.each<[string, Partial<StatusSnapshot>, string, string]>([
    [
      "a stage has never run",
      { heartbeats: [beat({ stages: stages("gateway", "orchestrator", "notify") })] },
      "no executor is running",
      "interlock executor",
    ],
    [
      "a stage is down",
      {
        heartbeats: [
          beat({ stages: stages("gateway", "orchestrator", "notify") }),
          beat({ process: "b/2", stages: stages("executor"), isAlive: false, ageMs: 4 * minute }),
        ],
      },
      "no executor is running: the last heartbeat, of b/2, is 4m old",
      "interlock executor",
    ],
    [
      "a stage is not ready",
      { heartbeats: [beat(), beat({ process: "b/2", stages: [{ name: "notify", isReady: false }] })] },
      "notify at b/2: not ready",
      "read the log of notify at b/2",
    ],
    [
      "a stage reports a problem",
      { heartbeats: [beat(), beat({ process: "b/2", stages: [{ name: "notify", isReady: true, problem: "403" }] })] },
      "notify at b/2: 403",
      "read the log",
    ],
    [
      "a watch fails",
      { heartbeats: [beat({ problems: [{ area: "watches", message: "watch of pods: failing for 40 s: 403" }] })] },
      "a/1: watch of pods: failing for 40 s: 403",
      "interlock manifests",
    ],
    [
      "a rule file cannot be read",
      { heartbeats: [beat({ problems: [{ area: "rules", message: "rules/a.yaml: is not YAML" }] })] },
      "rules/a.yaml: is not YAML",
      "interlock policy test",
    ],
    [
      "a workflow file cannot be read",
      { heartbeats: [beat({ problems: [{ area: "workflows", message: "workflows/a: has no pipeline" }] })] },
      "workflows/a: has no pipeline",
      "docs/workflows.md",
    ],
    [
      "the ledger lags",
      { heartbeats: [beat({ ledger: { events: 3, seconds: 90 } })] },
      "the database lacks 3 events, the oldest for 1m30s",
      "bring the database back",
    ],
    [
      "a lock is waited for too long",
      { heartbeats: [beat({ locks: { held: 0, waiting: 1, oldestWaitSeconds: 75 } })] },
      "a/1 has waited 1m15s for a lock",
      "docs/coordination.md",
    ],
    [
      "a controller does not take up its work",
      { executions: [execution("a", undefined, 2 * minute)] },
      "1 execution not taken up by the executor, the first is a, for 2m",
      "check that the executor runs",
    ],
    [
      "work keeps failing",
      { executions: [execution("a", stalled, minute)] },
      "1 execution stalled, the first is a: WebhookFailed since 2026-03-01T11:59:30.000Z: webhook down",
      "interlock why a",
    ],
    [
      "a notice cannot be delivered",
      { notices: [notice("n", stalled)] },
      "1 notice stalled, the first is n: WebhookFailed since 2026-03-01T11:59:30.000Z: webhook down",
      "interlock get notices",
    ],
    [
      "a notice is not collected although its digest was due",
      { notices: [skipNotice("n", 6 * minute)] },
      "1 notice not taken up by the notify, the first is n, for 6m",
      "check that the notify runs",
    ],
    [
      "the gateway cannot write",
      { heartbeats: [beat({ problems: [{ area: "signals", message: "incidents cannot be written (Forbidden)" }] })] },
      "a/1: incidents cannot be written (Forbidden)",
      "log of the gateway",
    ],
    ["a part cannot be read", { unreadable: [unreadable("leases")] }, "cannot read leases: forbidden", "right"],
    ["coding tasks wait without an agent", { tasks: [task()] }, "no agent is running", "interlock agent"],
  ])("is not healthy when %s, and the next step is named", (_name, given, message, next) => {
    const { isHealthy, problems } = assess(snapshot(given));

    expect(isHealthy).toBe(false);
    expect(problems).toEqual([
      expect.objectContaining({ message: expect.stringContaining(message), next: expect.stringContaining(next) }),
    ]);
  });

  it.each<[string, Partial<StatusSnapshot>]>([
    ["the ledger is a moment behind", { heartbeats: [beat({ ledger: { events: 40, seconds: 5 } })] }],
    ["a lock is waited for shortly", { heartbeats: [beat({ locks: { held: 1, waiting: 9, oldestWaitSeconds: 20 } })] }],
    ["an execution is new", { executions: [execution("a", undefined, 10_000)] }],
    [
      "a notice was stalled until it was sent",
      { notices: [notice("n", { ...stalled, completionTime: "2026-03-01T11:59:40Z" })] },
    ],
    ["a notice of a skip waits for its digest", { notices: [skipNotice("n", 5 * minute)] }],
    [
      "a finished execution was stalled",
      { executions: [execution("a", { ...stalled, phase: "Failed", failureDetails: {} }, minute)] },
    ],
  ])("is healthy when %s", (_name, given) => {
    expect(assess(snapshot(given)).isHealthy).toBe(true);
  });

  it.each<[string, Partial<StatusSnapshot>, string, string]>([
    [
      "a replica that vanished",
      { heartbeats: [beat(), beat({ process: "b/2", stages: stages("notify"), isAlive: false, ageMs: 2 * minute })] },
      "notify at b/2 vanished or hangs: its last heartbeat is 2m old",
      "others do its work",
    ],
    [
      "different versions",
      { heartbeats: [beat(), beat({ process: "b/2", version: "2.0.0" })] },
      "processes of different versions run: 1.0.0, 2.0.0",
      "finish the upgrade",
    ],
    ["blocked incidents", { incidents: [incident("Blocked")] }, "1 incident blocked", "interlock get incidents"],
    [
      "failures that block until they are acknowledged",
      { targets: [target({ failed: "wfe-2", at: 2 }), target({ failed: "wfe-1", at: 1 })] },
      "2 failed executions not acknowledged, the first is wfe-1",
      "interlock why wfe-1",
    ],
    [
      "a failure after the one that was acknowledged",
      { targets: [target({ failed: "wfe-2", at: 2, acknowledgedUntil: 1 })] },
      "1 failed execution not acknowledged, the first is wfe-2",
      "interlock why wfe-2",
    ],
    [
      "refused signals",
      { heartbeats: [beat({ signals: { refused: 2, ignored: 0, rejectedRequests: 0 } })] },
      "2 signals refused",
      "interlock ledger show --type signal.refused",
    ],
    [
      "ignored signals",
      { heartbeats: [beat({ signals: { refused: 0, ignored: 1, rejectedRequests: 0 } })] },
      "1 signal ignored",
      "interlock ledger show --type signal.ignored",
    ],
    [
      "rejected requests",
      { heartbeats: [beat({ signals: { refused: 0, ignored: 0, rejectedRequests: 1 } })] },
      "1 request rejected",
      "tokens",
    ],
    ["a pause", { pauses: [pause()] }, "automation is paused (everything) until it is resumed: release", "resume p"],
  ])("mentions %s without being unhealthy", (_name, given, message, next) => {
    const { isHealthy, notes } = assess(snapshot(given));

    expect(isHealthy).toBe(true);
    expect(notes).toEqual([
      expect.objectContaining({ message: expect.stringContaining(message), next: expect.stringContaining(next) }),
    ]);
  });

  it("claims nothing about what the caller may not list", () => {
    const kinds = ["leases", "remediationrequests", "workflowexecutions", "automationpauses"].map(unreadable);

    const { lines, problems } = assess(snapshot({ heartbeats: [], unreadable: kinds }));

    expect(new Set(Object.values(lines))).toEqual(new Set(["unknown"]));
    expect(problems.map(({ message }) => message)).toEqual(
      kinds.map(({ plural }) => `cannot read ${plural}: forbidden`),
    );
  });

  it("does not mention a failure that was acknowledged", () => {
    const targets = [target({ failed: "wfe-1", at: 1, acknowledgedUntil: 1 })];

    expect(assess(snapshot({ targets })).notes).toEqual([]);
  });

  it("does not mention a replica that vanished over an hour ago and was replaced", () => {
    const gone = beat({ process: "b/2", stages: stages("notify"), isAlive: false, ageMs: 61 * minute });

    expect(assess(snapshot({ heartbeats: [beat(), gone] })).notes).toEqual([]);
  });

  it("counts open incidents by the lanes of the console", () => {
    const incidents = [incident("Blocked"), incident("Blocked"), incident("Executing"), incident("Completed")];

    const { lines, lanes, incidents: phases } = assess(snapshot({ incidents }));

    expect(lines.incidents).toBe("1 Running, 2 Paused");
    expect(lanes).toEqual({ running: 1, paused: 2 });
    expect(phases).toEqual({ Blocked: 2, Executing: 1 });
  });

  it("knows nothing about watches, rules and the ledger while no process reports", () => {
    const { lines } = assess(snapshot({ heartbeats: [] }));

    expect(lines).toMatchObject({ watches: "unknown", rules: "unknown", ledger: "unknown" });
  });
});

const stalled = {
  phase: "Pending",
  conditions: [
    {
      type: "Stalled",
      status: "True",
      reason: "WebhookFailed",
      message: "webhook down",
      lastTransitionTime: "2026-03-01T11:59:30.000Z",
    },
  ],
};

function snapshot(given: Partial<StatusSnapshot> = {}): StatusSnapshot {
  const nothing = { incidents: [], executions: [], tasks: [], approvals: [], targets: [], notices: [], pauses: [] };
  return { nowMs, heartbeats: [beat()], digestWindowMs: 5 * minute, ...nothing, unreadable: [], ...given };
}

function unreadable(plural: string) {
  return { plural, reason: "forbidden" };
}

function stages(...names: readonly string[]) {
  return names.map((name) => ({ name, isReady: true }));
}

function beat(given: Partial<ReadHeartbeat> = {}): ReadHeartbeat {
  return {
    process: "a/1",
    version: "1.0.0",
    startedAt: "2026-03-01T11:00:00Z",
    stages: stages("gateway", "orchestrator", "executor", "notify"),
    problems: [],
    ledger: { events: 0, seconds: 0 },
    locks: { held: 0, waiting: 0, oldestWaitSeconds: 0 },
    ageMs: 1_000,
    isAlive: true,
    ...given,
  };
}

function execution(name: string, status: object | undefined, ageMs: number): WorkflowExecution {
  const creationTimestamp = new Date(nowMs - ageMs).toISOString();
  const spec = { targetResource: "node/a", workflowRef: { workflowId: "clean" } };
  return { metadata: { name, creationTimestamp }, spec, status } as unknown as WorkflowExecution;
}

function notice(name: string, status: object): NotificationRequest {
  return {
    metadata: { name, creationTimestamp: new Date(nowMs).toISOString() },
    spec: { eventType: "RunFailed" },
    status,
  } as unknown as NotificationRequest;
}

function skipNotice(name: string, ageMs: number): NotificationRequest {
  return {
    kind: "NotificationRequest",
    metadata: { name, creationTimestamp: new Date(nowMs - ageMs).toISOString() },
    spec: { eventType: "WorkflowSkipped" },
  } as unknown as NotificationRequest;
}

function incident(phase: string): RemediationRequest {
  const block = { reason: "Paused" };
  return { metadata: { name: "rr-1" }, spec: {}, status: { phase, block } } as unknown as RemediationRequest;
}

/** A target on which a workflow failed after it had begun to act; times in minutes. */
function target(given: { failed: string; at: number; acknowledgedUntil?: number }): RemediationTarget {
  const time = (minutes: number) => new Date(nowMs + minutes * minute).toISOString();
  const lastExecutionFailure = { executionName: given.failed, completedAt: time(given.at) };
  const ack = given.acknowledgedUntil === undefined ? undefined : { coversUntil: time(given.acknowledgedUntil) };
  return {
    metadata: { name: "t" },
    status: { workflows: [{ workflowId: "clean", lastExecutionFailure, ack }] },
  } as unknown as RemediationTarget;
}

function task(): CodingTask {
  const spec = { targetResource: "git:host/a@b" };
  return { metadata: { name: "ct-1" }, spec, status: { phase: "Waiting" } } as unknown as CodingTask;
}

function pause(): AutomationPause {
  return { metadata: { name: "p" }, spec: { scope: "All", reason: "release" } } as unknown as AutomationPause;
}
