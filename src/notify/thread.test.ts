import { describe, expect, it } from "vitest";
import type { NotificationRequest, RemediationRequest } from "../resources/index.ts";
import type { ChannelStyle } from "./thread.ts";
import { type IncidentState, isOver, type Thread, threadOn } from "./thread.ts";

type Step = Thread["step"] | undefined;

describe("a notice about an incident", () => {
  it.each<[ChannelStyle, "info" | "warning" | "critical", Step, Step]>([
    ["notices", "info", "open", "open"],
    ["notices", "critical", "open", "open"],
    ["messages", "info", "open", undefined],
    ["messages", "warning", "open", undefined],
    ["messages", "critical", "open", "update"],
    ["thread", "info", "open", "update"],
    ["thread", "critical", "open", "update"],
    ["alert", "info", undefined, undefined],
    ["alert", "warning", "open", "update"],
    ["alert", "critical", "open", "update"],
  ])("on a channel with %s, of the severity %s: first %s, later %s", (style, severity, first, later) => {
    expect(stepOf(style, notice({ severity }))).toBe(first);
    expect(stepOf(style, notice({ severity }), { others: [opener()] })).toBe(later);
  });

  it("that requests an approval is sent on channels whose messages cannot be updated", () => {
    const approval = notice({ eventType: "ApprovalRequired", severity: "warning" });

    expect(stepOf("messages", approval, { others: [opener()] })).toBe("update");
  });

  it.each<ChannelStyle>(["notices", "messages", "thread", "alert"])(
    "without a route is not for a channel with %s",
    (style) => {
      expect(stepOf(style, notice({ severity: "critical" }), { isRouted: false })).toBeUndefined();
    },
  );

  it("continues the thread of its own channel, with the id and title of the first delivery", () => {
    const others = [
      opener({ at: "2026-01-01T00:00:02.000Z", thread: "second", title: "Second" }),
      opener({ at: "2026-01-01T00:00:01.000Z", thread: "first", title: "First" }),
      opener({ at: "2026-01-01T00:00:00.000Z", thread: "other", channel: "opsgenie" }),
    ];

    expect(thread("thread", notice(), { others })?.opened).toEqual({ id: "first", title: "First" });
    expect(thread("thread", notice(), { others: [opener({ channel: "opsgenie" })] })?.step).toBe("open");
  });

  it("has the uid of the incident as key, and without an incident its own", () => {
    expect(thread("alert", notice({ severity: "critical" }))?.key).toBe("incident-uid");
    const { remediationRequestRef: _, ...spec } = notice({ severity: "critical" }).spec;
    expect(thread("alert", { ...notice(), spec })?.key).toBe("notice-uid");
  });
});

describe("the end of an incident", () => {
  const end = notice({ eventType: "IncidentClosed", severity: "info", onlyOpenThreads: true });

  it.each<[ChannelStyle, Step]>([
    ["notices", undefined],
    ["messages", "resolve"],
    ["thread", "resolve"],
    ["alert", "resolve"],
  ])("on a channel with %s that was notified before: %s, without a route", (style, step) => {
    expect(stepOf(style, end, { others: [opener()], incident: closed(), isRouted: false })).toBe(step);
  });

  it.each<ChannelStyle>(["notices", "messages", "thread", "alert"])(
    "is not for a channel with %s that was not notified before",
    (style) => {
      expect(stepOf(style, end, { incident: closed() })).toBeUndefined();
    },
  );

  it("that the orchestrator announces is sent by its routes, too", () => {
    const announced = notice({ eventType: "IncidentClosed", severity: "info" });

    expect(stepOf("notices", announced, { incident: closed() })).toBe("open");
    expect(stepOf("thread", announced, { incident: closed() })).toBe("open");
    expect(stepOf("alert", announced, { incident: closed() })).toBeUndefined();
    expect(stepOf("alert", announced, { incident: closed(), others: [opener()] })).toBe("resolve");
  });

  it.each<[string, RemediationRequest | undefined]>([
    ["needs a review", closed({ requiresManualReview: true })],
    ["is still open", closed({ phase: "Executing", outcome: undefined })],
    ["is not recorded yet", closed({ conditions: [] })],
    ["is gone", undefined],
  ])("resolves nothing if the incident %s", (_, incident) => {
    expect(isOver(incident)).toBe(false);
    expect(stepOf("alert", end, { others: [opener()], incident })).toBeUndefined();
  });
});

type Given = Partial<IncidentState & { readonly isRouted: boolean }>;

function thread(style: ChannelStyle, about: NotificationRequest, given: Given = {}): Thread | undefined {
  return threadOn({ name: "pagerduty", style }, about, { incident: undefined, others: [], isRouted: true, ...given });
}

function stepOf(...call: Parameters<typeof thread>): Step {
  return thread(...call)?.step;
}

function notice(spec: Partial<NotificationRequest["spec"]> = {}): NotificationRequest {
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "NotificationRequest",
    metadata: { name: "notice", namespace: "ns", uid: "notice-uid" },
    spec: {
      eventType: "WorkflowFailed",
      severity: "warning",
      message: "It failed",
      remediationRequestRef: { name: "rr", namespace: "ns", uid: "incident-uid" },
      ...spec,
    },
  };
}

/** A notice that was delivered, and opened a thread. */
function opener({
  at = "2026-01-01T00:00:00.000Z",
  thread = "t",
  title = "It failed",
  channel = "pagerduty",
} = {}): NotificationRequest {
  const attempt = { channel, attempt: 1, at, status: "success" as const, thread };
  return { ...notice({ message: title }), status: { phase: "Sent", completionTime: at, deliveryAttempts: [attempt] } };
}

function closed(status: object = {}): RemediationRequest {
  const recorded = { type: "Recorded", status: "True", reason: "Completed", message: "", lastTransitionTime: "" };
  const { outcome, ...all } = { phase: "Completed", outcome: "Remediated", conditions: [recorded], ...status };
  return { metadata: {}, status: { ...all, ...(outcome && { outcome }) } } as unknown as RemediationRequest;
}
