import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  AutomationPause,
  CodingTask,
  NotificationRequest,
  RemediationApprovalRequest,
  RemediationRequest,
  RemediationTarget,
  WorkflowExecution,
} from "../../resources/index.ts";
import type { Row } from "../wire.ts";
import { maxRowBytes, toExecutionRow, toIncidentRow, toPauseRow, toTargetRow } from "./index.ts";
import { toApprovalRow, toNoticeRow, toTaskRow } from "./to-row.ts";

const hash = "oiiu3npg5aespnb5m7ukp485e49fn35jd7ojul0j68nnbbkpn91g";
const at = "2026-03-01T12:00:00.000Z";

describe("the row of an incident", () => {
  it("has what the lanes show, with links to other objects", () => {
    const row = toIncidentRow(incident(), { position: 2, attempt: { number: 2, of: 5 }, approval: "kubernaut/rar-1" });

    expect(row).toEqual({
      kind: "incidents",
      key: `kubernaut/rr-${hash}-1`,
      name: "rr-oiiu3npg-1",
      version: "42",
      createdAt: at,
      lane: "queued",
      phase: "Blocked",
      signal: "HighMemory",
      severity: "critical",
      subject: "payment/pod/api-1",
      target: "payment/deployment/api",
      workflow: "restart",
      rule: "memory",
      reason: "ResourceBusy",
      message: "held",
      until: at,
      execution: "kubernaut/wfe-1",
      position: 2,
      attempt: { number: 2, of: 5 },
      approval: "kubernaut/rar-1",
      next: ["cancel"],
      seen: 7,
      lastSeenAt: at,
    });
  });

  it("names a wait after failures a backoff", () => {
    const block = { reason: "RecentlyRemediated", cause: "backoff", message: "wait" };

    expect(toIncidentRow(incident({ block })).reason).toBe("Backoff");
  });

  it("names the error of a stall in place of an outdated message", () => {
    const conditions = [
      { type: "Stalled", status: "True", reason: "Forbidden", message: "no right", lastTransitionTime: at },
    ];

    expect(toIncidentRow(incident({ phase: "Analyzing", message: "earlier", conditions }))).toMatchObject({
      lane: "needsYou",
      reason: "Forbidden",
      message: `Forbidden since ${at}: no right`,
    });
  });

  it("of a new one counts its first signal", () => {
    const { status: _status, ...fresh } = incident();

    expect(toIncidentRow(fresh)).toMatchObject({ phase: "Pending", lane: "waiting", seen: 1, severity: "warning" });
  });

  it("of a closed one has its outcome, and no reason", () => {
    const closed = incident({ phase: "Completed", outcome: "Remediated", completedAt: at, message: "done" });

    const row = toIncidentRow(closed);

    expect(row).toMatchObject({ lane: "done", outcome: "Remediated", closedAt: at, message: "done" });
    expect(row).not.toHaveProperty("reason");
  });

  it("names what it follows, or else its latest execution", () => {
    const executionRefs = [ref("wfe-1"), ref("wfe-2")];

    expect(toIncidentRow(incident({ phase: "Executing", executionRefs })).execution).toBe("kubernaut/wfe-2");
    expect(toIncidentRow(incident({ phase: "Executing", executionRefs, follows: ref("wfe-9") })).execution).toBe(
      "kubernaut/wfe-9",
    );
  });

  it("cuts a long message on a character, not within one", () => {
    const { message = "" } = toIncidentRow(incident({ phase: "Analyzing", message: "🔥".repeat(300) }));

    expect(message).toMatch(/^(🔥)+…$/u);
    expect(message.length).toBeLessThanOrEqual(200);
  });

  it("names objects in a message as the command line prints them", () => {
    const message = `execution rr-${"a".repeat(52)}-1-1 succeeded`;

    expect(toIncidentRow(incident({ phase: "Analyzing", message })).message).toBe(
      "execution rr-aaaaaaaa-1-1 succeeded",
    );
  });
});

describe("the row of an execution", () => {
  it.each<[string, object | undefined, object]>([
    ["a new one is pending", undefined, { phase: "Pending" }],
    [
      "a running one has its start and engine",
      { phase: "Running", startTime: at, workload: { engine: "job", image: "i" } },
      { phase: "Running", startedAt: at, engine: "job" },
    ],
    [
      "a failed one has its reason",
      { phase: "Failed", completionTime: at, failureDetails: { reason: "Timeout", message: "took too long" } },
      { reason: "Timeout", message: "took too long", endedAt: at },
    ],
    [
      "a skipped one has its reason as people read it",
      {
        phase: "Skipped",
        skipDetails: { reason: "RecentlyRemediated", cause: "backoff", message: "wait", skippedAt: at },
      },
      { reason: "Backoff", message: "wait", endedAt: at },
    ],
  ])("%s", (_name, status, expected) => {
    expect(toExecutionRow(execution(status))).toMatchObject({
      workflow: "restart",
      target: "payment/deployment/api",
      incident: "kubernaut/rr-1",
      ...expected,
    });
  });
});

describe("the row of a pause", () => {
  it.each<[object, string]>([
    [{ scope: "All" }, "everything"],
    [{ scope: "Namespace", targetNamespace: "payment" }, "namespace payment"],
    [{ scope: "Target", targetResource: "node/worker-1" }, "target node/worker-1"],
    [{ scope: "Workflow", workflowId: "restart" }, "workflow restart"],
  ])("%o covers %s", (scope, text) => {
    expect(toPauseRow(pause(scope))).toMatchObject({ scope: text, author: "kim", reason: "release" });
  });
});

describe("the row of another kind", () => {
  it("names the holder of a target", () => {
    const holder = { executionName: "wfe-1", executionNamespace: "kubernaut", since: at };

    expect(toTargetRow(record(holder))).toMatchObject({
      holder: "kubernaut/wfe-1",
      heldSince: at,
      waiting: 0,
      fence: "1",
    });
  });

  it("names the answer to an approval", () => {
    const status = { decision: "Approved", decidedBy: "kim", decidedAt: at };

    expect(toApprovalRow(approval(status))).toMatchObject({ incident: "kubernaut/rr-1", ...status });
  });

  it.each<[object, object | undefined, object]>([
    [{ type: "Review", mergeRequest: { iid: 12 } }, undefined, { reference: "!12", phase: "Pending" }],
    [
      { type: "Issue", issue: { key: "PROJ-7" } },
      { phase: "Failed", completionTime: at, failure: { reason: "NoChange", message: "nothing to change" } },
      { reference: "PROJ-7", message: "nothing to change", endedAt: at },
    ],
  ])("names the reference of the task %o", (spec, status, expected) => {
    expect(toTaskRow(task(spec, status))).toMatchObject({ project: "shop/api", author: "kim", ...expected });
  });

  it("names each channel of a notice once", () => {
    const attempts = ["slack", "mail", "slack"].map((channel) => ({ channel }));

    expect(toNoticeRow(notice("blocked", attempts))).toMatchObject({
      subject: "IncidentBlocked: blocked",
      channels: ["slack", "mail"],
    });
  });
});

describe("every row", () => {
  it("has at most 1 KB as JSON and keeps its key, however long the texts of its object are", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, name, name, (a, b, c, long, other) => {
        for (const row of hostileRows({ a, b, c, long, other })) {
          expect(Buffer.byteLength(JSON.stringify(row))).toBeLessThanOrEqual(maxRowBytes);
          expect(row.key).toBe(`${namespace}/${long}`);
          expect(JSON.stringify(row)).not.toMatch(/(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}/);
        }
      }),
    );
  });
});

const namespace = "n".repeat(63);
const name = fc.integer({ min: 1, max: 253 }).map((length) => "x".repeat(length));
/** Whole characters only: what is cut out of them must be whole characters too. */
const hostile = fc
  .tuple(fc.constantFrom("a", "ä", "🔥", "\u0000", '"', "<script>", "e\u0301"), fc.integer({ min: 1, max: 5_000 }))
  .map(([character, length]) => character.repeat(length));

interface Hostile {
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly long: string;
  readonly other: string;
}

function hostileRows({ a, b, c, long, other }: Hostile): readonly Row[] {
  const metadata = { name: long, namespace, resourceVersion: "9".repeat(19), creationTimestamp: at };
  const block = {
    reason: "ResourceBusy",
    message: a,
    until: at,
    holder: { executionName: other, executionNamespace: namespace },
  };
  const far = { name: other, namespace, uid: "u" };
  const incidentStatus = {
    phase: "Blocked",
    block,
    message: a,
    diagnosis: { target: b, workflowId: c.slice(0, 60), rule: c },
    deduplication: { occurrenceCount: Number.MAX_SAFE_INTEGER, lastSeenAt: at, severity: c },
  };
  const annotations = { "kubernaut.ai/subject": b };
  const links = { position: 10_000, attempt: { number: 5, of: 5 }, approval: `${namespace}/${other}` };
  return [
    toIncidentRow(
      {
        metadata: { ...metadata, annotations },
        spec: { ...incident().spec, signalName: a },
        status: incidentStatus,
      } as unknown as RemediationRequest,
      links,
    ),
    toExecutionRow({
      metadata,
      spec: { workflowRef: { workflowId: c }, targetResource: b, remediationRequestRef: far },
      status: { phase: "Failed", completionTime: at, failureDetails: { reason: "Unknown", message: a } },
    } as unknown as WorkflowExecution),
    toApprovalRow({
      metadata,
      spec: {
        targetResource: b,
        recommendedWorkflow: { workflowId: c },
        whyApprovalRequired: a,
        requiredBy: at,
        remediationRequestRef: far,
      },
      status: { decision: "Approved", decidedBy: c, decidedAt: at },
    } as unknown as RemediationApprovalRequest),
    toPauseRow({
      metadata,
      spec: { scope: "Target", targetResource: b, requestedBy: c, reason: a, until: at },
    } as unknown as AutomationPause),
    toTargetRow({
      metadata,
      spec: { targetResource: b },
      status: { holder: { executionName: other, executionNamespace: namespace, since: at } },
    } as unknown as RemediationTarget),
    toTaskRow({
      metadata,
      spec: { type: "Issue", project: { path: a }, issue: { key: b }, requestedBy: c },
      status: { phase: "Running", message: a },
    } as unknown as CodingTask),
    toNoticeRow({
      metadata,
      spec: { eventType: "WorkStalled", message: a, remediationRequestRef: far },
      status: {
        phase: "Failed",
        deliveryAttempts: Array.from({ length: 20 }, (_, i) => ({ channel: `${i}${b}` })),
      },
    } as unknown as NotificationRequest),
  ];
}

function incident(status: object = {}): RemediationRequest {
  const block = { reason: "ResourceBusy", message: "held", until: at, holder: holder() };
  return {
    metadata: {
      name: `rr-${hash}-1`,
      namespace: "kubernaut",
      resourceVersion: "42",
      creationTimestamp: at,
      annotations: { "kubernaut.ai/subject": "payment/pod/api-1" },
    },
    spec: {
      signalName: "HighMemory",
      severity: "warning",
      targetResource: { kind: "Deployment", name: "api", namespace: "payment" },
    },
    status: {
      phase: "Blocked",
      block,
      message: "held",
      diagnosis: { target: "payment/deployment/api", workflowId: "restart", rule: "memory" },
      deduplication: { firstSeenAt: at, lastSeenAt: at, occurrenceCount: 7, severity: "critical" },
      ...status,
    },
  } as unknown as RemediationRequest;
}

function holder() {
  return { executionName: "wfe-1", executionNamespace: "kubernaut" };
}

function ref(name: string) {
  return { name, namespace: "kubernaut", uid: name };
}

const metadata = { name: "a", namespace: "kubernaut", resourceVersion: "1", creationTimestamp: at };

function execution(status: object | undefined): WorkflowExecution {
  const spec = {
    workflowRef: { workflowId: "restart" },
    targetResource: "payment/deployment/api",
    remediationRequestRef: { name: "rr-1" },
  };
  return { metadata, spec, status } as unknown as WorkflowExecution;
}

function pause(scope: object): AutomationPause {
  return { metadata, spec: { ...scope, requestedBy: "kim", reason: "release" } } as unknown as AutomationPause;
}

function record(holder: object): RemediationTarget {
  return { metadata, spec: { targetResource: "node/a" }, status: { holder } } as unknown as RemediationTarget;
}

function approval(status: object): RemediationApprovalRequest {
  const spec = {
    targetResource: "node/a",
    recommendedWorkflow: { workflowId: "restart" },
    whyApprovalRequired: "it drains",
    requiredBy: at,
    remediationRequestRef: { name: "rr-1" },
  };
  return { metadata, spec, status } as unknown as RemediationApprovalRequest;
}

function task(spec: object, status: object | undefined): CodingTask {
  return {
    metadata,
    spec: { project: { path: "shop/api" }, requestedBy: "kim", ...spec },
    status,
  } as unknown as CodingTask;
}

function notice(message: string, deliveryAttempts: readonly object[]): NotificationRequest {
  const spec = { eventType: "IncidentBlocked", message };
  return { metadata, spec, status: { phase: "Sent", deliveryAttempts } } as unknown as NotificationRequest;
}
