import { describe, expect, it } from "vitest";
import type { NotificationRequest } from "../resources/index.ts";
import { toMessage } from "./message.ts";

describe("the next step after a run that failed before it acted", () => {
  it("is to wait if the run belongs to an incident, which retries it", () => {
    const { next } = messageOf({ remediationRequestRef: { name: "rr-1", namespace: "ns", uid: "u" } });

    expect(next).toBe("nothing was changed, and it is retried; interlock why wfe-1 shows when");
  });

  it("is to retry it by hand if it was started by hand", () => {
    expect(messageOf({}).next).toBe(
      'nothing was changed, and it is not retried; fix the cause, then: interlock retry wfe-1 --reason "…"',
    );
  });
});

function messageOf(spec: Partial<NotificationRequest["spec"]>) {
  const context = { workflowId: "clean", targetResource: "node/a", execution: "wfe-1" };
  const notice = {
    metadata: { name: "notif-1", namespace: "ns", uid: "n" },
    spec: { eventType: "WorkflowFailed", severity: "warning", message: "It failed", context, ...spec },
  } as NotificationRequest;
  return toMessage(notice, { key: "n", step: "open" } as unknown as Parameters<typeof toMessage>[1]);
}
