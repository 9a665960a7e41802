import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type NotificationRequest,
  type NotificationRequestStatus,
  noticeTypes,
  type RemediationRequest,
} from "../resources/index.ts";
import type { Delivery } from "./channel.ts";
import { decide, type Snapshot, statusAfterAttempts } from "./decide.ts";
import { toDigest } from "./digest.ts";
import { digestKey } from "./observe.ts";

const minute = 60_000;
const nowMs = Date.parse("2026-11-15T10:10:00.000Z");

describe("a notice", () => {
  it("goes to every channel that it is meant for", () => {
    expect(decide(snapshot())).toEqual({ actions: [{ do: "deliver", channels: ["slack", "webhook"] }] });
  });

  it("without a channel is settled as not delivered", () => {
    const status = { phase: "Sent", message: expect.stringContaining("not delivered") };

    expect(decide(snapshot({ threads: onChannels(), isRouted: false }))).toMatchObject({
      actions: [{ do: "settle", status }],
    });
  });

  it.each<[NotificationRequestStatus["phase"], object]>([
    ["Sent", {}],
    ["PartiallySent", {}],
    ["Failed", {}],
    ["Digested", { digest: "digest-1" }],
  ])("that is %s is not delivered again, and is removed after the retention", (phase, more) => {
    const status = { phase, completionTime: iso(-20 * minute), ...more } as NotificationRequestStatus;
    const at = (laterMs: number) => decide(snapshot({ notice: notice({ status }), nowMs: nowMs + laterMs }));

    expect(at(0)).toEqual({ actions: [], requeueAfterMs: 40 * minute });
    expect(at(40 * minute - 1)).toEqual({ actions: [], requeueAfterMs: 1 });
    expect(at(40 * minute)).toEqual({ actions: [{ do: "remove" }] });
  });

  it.each<[string, NotificationRequestStatus | undefined]>([
    ["new", undefined],
    ["retrying", retrying(0)],
  ])("that is %s is not removed, however old it is", (_, status) => {
    const old = notice({ ...(status && { status }), createdAt: iso(-1_000 * minute) });

    expect(decide(snapshot({ notice: old }))).toMatchObject({ actions: [{ do: "deliver" }] });
  });

  it("that is being deleted is ignored", () => {
    const status = { phase: "Sent" as const, completionTime: iso(-100 * minute) };
    const sent = notice({ status });
    const deleted = { ...sent, metadata: { ...sent.metadata, deletionTimestamp: iso(0) } };

    expect(decide(snapshot({ notice: deleted }))).toEqual({ actions: [] });
  });

  it("waits until its next attempt", () => {
    const status = retrying(30_000);

    expect(decide(snapshot({ notice: notice({ status }) }))).toEqual({ actions: [], requeueAfterMs: 30_000 });
    expect(decide(snapshot({ notice: notice({ status }), nowMs: nowMs + 30_000 }))).toMatchObject({
      actions: [{ do: "deliver" }],
    });
  });

  it("is retried only on channels without a delivery", () => {
    const status = retrying(0, [attempt("slack", "success"), attempt("webhook", "failed")]);

    expect(decide(snapshot({ notice: notice({ status }) }))).toEqual({
      actions: [{ do: "deliver", channels: ["webhook"] }],
    });
  });
});

describe("after an attempt", () => {
  it.each<[string, Delivery["status"], Delivery["status"], NotificationRequestStatus["phase"]]>([
    ["all deliveries succeeded", "success", "success", "Sent"],
    ["one is refused, one succeeded", "success", "refused", "PartiallySent"],
    ["both are refused", "refused", "refused", "Failed"],
    ["one failed", "success", "failed", "Retrying"],
    ["one timed out", "timeout", "refused", "Retrying"],
  ])("when %s, a notice has the expected status", (_, slack, webhook, phase) => {
    const status = statusAfterAttempts(snapshot(), [tried("slack", slack), tried("webhook", webhook)], 0.5);

    expect(status.phase).toBe(phase);
    expect(status.deliveryAttempts?.map(({ channel, attempt, status }) => [channel, attempt, status])).toEqual([
      ["slack", 1, slack],
      ["webhook", 1, webhook],
    ]);
  });

  it.each([
    [1, 10],
    [2, 20],
    [3, 40],
  ])("number %i the next comes %i s later", (count, seconds) => {
    const before = Array.from({ length: count - 1 }, () => attempt("slack", "failed"));
    const world = snapshot({ threads: onChannels("slack"), notice: notice({ status: retrying(0, before) }) });

    const status = statusAfterAttempts(world, [tried("slack", "failed")], 0.5);

    expect(status).toMatchObject({ phase: "Retrying", nextAttemptTime: iso(seconds * 1_000) });
  });

  it("the next comes when the receiver asks for it, but not later than the longest backoff", () => {
    const statusAfter = (retryAfterMs: number) =>
      statusAfterAttempts(
        snapshot(),
        [{ channel: "slack", delivery: { status: "failed", error: "because", retryAfterMs } }],
        0.5,
      );

    expect(statusAfter(30_000)).toMatchObject({ nextAttemptTime: iso(30_000) });
    expect(statusAfter(1)).toMatchObject({ nextAttemptTime: iso(10_000) });
    expect(statusAfter(60 * minute)).toMatchObject({ nextAttemptTime: iso(minute) });
  });

  it("it fails if it was the last", () => {
    const before = Array.from({ length: 3 }, () => attempt("slack", "failed"));
    const world = snapshot({ threads: onChannels("slack"), notice: notice({ status: retrying(0, before) }) });

    expect(statusAfterAttempts(world, [tried("slack", "failed")], 0.5)).toMatchObject({
      phase: "Failed",
      message: "given up on slack",
    });
  });
});

describe("a skip", () => {
  const skips = [skip("a", 6), skip("b", 4), skip("c", 1)];

  it("waits for others until the window of the oldest ends", () => {
    const young = [skip("a", 4), skip("b", 1)];

    expect(decide(snapshot({ notice: young[0] as NotificationRequest, skips: young }))).toEqual({
      actions: [],
      requeueAfterMs: minute,
    });
    expect(decide(snapshot({ notice: young[1] as NotificationRequest, skips: young }))).toEqual({
      actions: [],
      requeueAfterMs: minute,
    });
  });

  it("is delivered together with all others by the oldest", () => {
    expect(decide(snapshot({ notice: skips[0] as NotificationRequest, skips }))).toEqual({
      actions: [{ do: "digest", members: skips }],
    });
    expect(decide(snapshot({ notice: skips[2] as NotificationRequest, skips }))).toEqual({
      actions: [],
      requeueAfterMs: 5_000,
    });
  });

  it("is delivered by itself if it is the only one", () => {
    const only = [skip("a", 6)];

    expect(decide(snapshot({ notice: only[0] as NotificationRequest, skips: only }))).toMatchObject({
      actions: [{ do: "deliver" }],
    });
  });

  it("is delivered at once without a window", () => {
    const settings = { ...snapshot().settings, digestWindowMs: 0 };

    expect(decide(snapshot({ notice: skips[2] as NotificationRequest, skips, settings }))).toMatchObject({
      actions: [{ do: "deliver" }],
    });
  });

  it("that is a digest is delivered at once", () => {
    const digest = notice({ eventType: "WorkflowSkipped", context: { entries: [{ name: "a", message: "b" }] } });

    expect(decide(snapshot({ notice: digest }))).toMatchObject({ actions: [{ do: "deliver" }] });
  });
});

describe("a notice of a waiting incident", () => {
  const about = (skipReason: "NoMatchingRule" | "Paused", targetResource?: string) =>
    notice({
      createdAt: iso(-10 * minute),
      eventType: "IncidentBlocked",
      context: { skipReason, ...(targetResource ? { targetResource } : {}) },
    });

  it("is digested like a skip", () => {
    const members = [about("Paused", "node/a"), about("Paused", "node/a")];

    const decision = decide(snapshot({ notice: members[0] as NotificationRequest, skips: members }));

    expect(decision).toEqual({ actions: [{ do: "digest", members }] });
    expect(toDigest(members).spec).toMatchObject({
      eventType: "IncidentBlocked",
      message: "2 incidents on node/a wait: 2 × Paused",
    });
  });

  it("is in one digest with all others that no rule matches, whatever their target", () => {
    const [one, other] = [about("NoMatchingRule"), about("NoMatchingRule", "node/b")];

    expect(digestKey(one)).toEqual(digestKey(other));
    expect(digestKey(one)).not.toEqual(digestKey(about("Paused", "node/b")));
    expect(toDigest([one, other]).spec.message).toBe("2 incidents wait: 2 × NoMatchingRule");
  });
});

describe("the threads of an incident", () => {
  const sent = { phase: "Sent", completionTime: iso(-20 * minute), deliveryAttempts: [threadAttempt()] } as const;
  const opener = notice({ status: sent });
  const end = notice({ uid: "end", eventType: "IncidentClosed" });

  it("are resolved by a separate notice when the incident is over", () => {
    const decision = decide(snapshot({ notice: opener, incident: incident() }));

    expect(decision.actions).toMatchObject([
      { do: "end", notice: { spec: { eventType: "IncidentClosed", onlyOpenThreads: true } } },
    ]);
    expect(decide(snapshot({ notice: opener, incident: incident() }))).toEqual(decision);
  });

  it.each<[string, Partial<Snapshot>]>([
    ["the incident is open", { incident: incident({ phase: "Executing" }) }],
    ["a person must review it", { incident: incident({ requiresManualReview: true }) }],
    ["the notice about its end exists", { incident: incident(), others: [end] }],
    ["another notice about it is under way", { incident: incident(), others: [notice({ status: retrying(0) })] }],
    ["the incident has no thread", { incident: incident(), notice: notice({ status: without(sent) }) }],
  ])("are not resolved while %s", (_, given) => {
    expect(decide(snapshot({ notice: opener, ...given })).actions).toEqual([]);
  });

  it("are resolved after all other notices, and not before the incident is known to be closed", () => {
    const waits = { actions: [], requeueAfterMs: 5_000 };

    expect(decide(snapshot({ notice: end, incident: incident(), others: [notice()] }))).toEqual(waits);
    expect(decide(snapshot({ notice: end, incident: incident({ phase: "Executing" }) }))).toEqual(waits);
    expect(decide(snapshot({ notice: end, incident: incident(), others: [opener, skip("a", 1)] }))).toMatchObject({
      actions: [{ do: "deliver" }],
    });
  });

  it("are kept after the retention until they are resolved", () => {
    const late = { nowMs: nowMs + 600 * minute };
    const settledEnd = notice({ uid: "end", eventType: "IncidentClosed", status: without(sent) });
    const open = incident({ phase: "Executing" });
    const removal = { actions: [{ do: "remove" }] };

    expect(decide(snapshot({ ...late, notice: opener, incident: open })).actions).toEqual([]);
    expect(decide(snapshot({ ...late, notice: opener, incident: incident(), others: [end] })).actions).toEqual([]);
    expect(decide(snapshot({ ...late, notice: settledEnd, incident: incident(), others: [opener] })).actions).toEqual(
      [],
    );
    expect(decide(snapshot({ ...late, notice: opener, incident: incident(), others: [settledEnd] }))).toEqual(removal);
    expect(decide(snapshot({ ...late, notice: settledEnd, incident: incident() }))).toEqual(removal);
    const reviewed = incident({ requiresManualReview: true });
    expect(decide(snapshot({ ...late, notice: opener, incident: reviewed }))).toEqual(removal);
  });
});

describe("the types of notices", () => {
  it("are those that a stage creates", () => {
    const stages = ["executor", "orchestrator", "resources", "stalls"].map(
      (stage) => new URL(`../${stage}/`, import.meta.url),
    );
    const source = stages
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => new URL(file, folder)),
      )
      .filter(({ pathname }) => pathname.endsWith(".ts") && !pathname.endsWith(".test.ts"))
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");

    expect(source).toContain("eventType");
    expect(noticeTypes.filter((type) => !new RegExp(`eventType: [^\n]*"${type}"`).test(source))).toEqual([]);
  });
});

function snapshot(other: Partial<Snapshot> = {}): Snapshot {
  return {
    notice: notice(),
    isFresh: false,
    skips: [],
    incident: undefined,
    others: [],
    isRouted: true,
    threads: onChannels("slack", "webhook"),
    settings: {
      digestWindowMs: 5 * minute,
      maxAttempts: 4,
      backoff: { baseMs: 10_000, maxMs: minute, jitter: 0.2 },
      retentionMs: 60 * minute,
    },
    nowMs,
    ...other,
  };
}

function onChannels(...names: string[]): Snapshot["threads"] {
  return new Map(names.map((name) => [name, { key: "u", step: "open" }]));
}

interface RequestDraft extends Partial<NotificationRequest["spec"]> {
  readonly status?: NotificationRequestStatus;
  readonly uid?: string;
  readonly createdAt?: string;
}

function notice({ status, uid = "u", createdAt = iso(0), ...spec }: RequestDraft = {}): NotificationRequest {
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "NotificationRequest",
    metadata: { name: uid, namespace: "ns", uid, creationTimestamp: createdAt },
    spec: { eventType: "WorkflowFailed", severity: "warning", message: "It failed", ...spec },
    ...(status && { status }),
  };
}

function skip(uid: string, minutesAgo: number): NotificationRequest {
  return notice({ uid, eventType: "WorkflowSkipped", severity: "info", createdAt: iso(-minutesAgo * minute) });
}

function retrying(inMs: number, deliveryAttempts: NonNullable<NotificationRequestStatus["deliveryAttempts"]> = []) {
  return { phase: "Retrying" as const, nextAttemptTime: iso(inMs), deliveryAttempts };
}

function attempt(channel: string, status: Delivery["status"]) {
  return { channel, attempt: 1, at: iso(0), status };
}

function tried(channel: string, status: Delivery["status"]) {
  return { channel, delivery: status === "success" ? { status } : { status, error: "because" } };
}

function threadAttempt() {
  return { ...attempt("slack", "success"), thread: "t" };
}

function without({
  deliveryAttempts: _,
  ...status
}: {
  phase: "Sent";
  completionTime: string;
  deliveryAttempts: unknown;
}) {
  return status;
}

/** An incident that is closed and recorded, unless `status` differs. */
function incident(status: { phase?: string; requiresManualReview?: boolean } = {}): RemediationRequest {
  const recorded = { type: "Recorded", status: "True", reason: "Completed", message: "", lastTransitionTime: iso(0) };
  const closed = status.phase === undefined ? { outcome: "Remediated", conditions: [recorded] } : {};
  return {
    metadata: { name: "rr", namespace: "ns", uid: "incident" },
    spec: { signalName: "DiskFull" },
    status: { phase: "Completed", ...closed, ...status },
  } as unknown as RemediationRequest;
}

function iso(laterMs: number): string {
  return new Date(nowMs + laterMs).toISOString();
}
