import { expect, it } from "vitest";
import type { Blocked } from "../../policy/index.ts";
import type { RemediationRequest, WorkflowExecution } from "../../resources/index.ts";
import { decidedEvent } from "./ledger-events.ts";

it("distinguishes only different decisions of replicas about one version of an incident", () => {
  const incident = { metadata: { uid: "u", name: "rr", resourceVersion: "7" }, spec: {} } as RemediationRequest;
  const execution = { metadata: { name: "rr-1", namespace: "n" } } as WorkflowExecution;
  const blockedBy = (reason: string) => ({ verdict: "block", reason, checks: [] }) as unknown as Blocked;

  const ids = [
    decidedEvent(incident, { verdict: "run", execution, nowMs: 1 }),
    decidedEvent(incident, { verdict: "run", execution, nowMs: 2 }),
    decidedEvent(incident, { verdict: "follow", execution, nowMs: 1 }),
    decidedEvent(incident, { verdict: "block", decision: blockedBy("Paused"), nowMs: 1 }),
    decidedEvent(incident, { verdict: "block", decision: blockedBy("ResourceBusy"), nowMs: 1 }),
  ].map(({ id }) => id);

  expect(ids[0]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(4);
});
