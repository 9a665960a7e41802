import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../kube/index.ts";
import type { RowKind } from "../wire.ts";
import { reasonGetters, rowFacts } from "./row-facts.ts";

const stalled = {
  conditions: [
    { type: "Stalled", status: "True", reason: "Forbidden", message: "no", lastTransitionTime: "2026-11-15T11:00:00Z" },
  ],
};
const onNode = {
  targetResource: "node/a",
  workflowRef: { workflowId: "clean" },
  recommendedWorkflow: { workflowId: "clean" },
};
const blocked = { phase: "Blocked", block: { reason: "RecentlyRemediated", cause: "backoff" } };

describe("the facts of an object", () => {
  it.each<[string, RowKind, object, object]>([
    ["an incident without a status", "incidents", {}, { isOpen: true, phase: "Pending", reason: "", target: "" }],
    ["a blocked incident", "incidents", { status: blocked }, { isOpen: true, phase: "Blocked", reason: "Backoff" }],
    [
      "a closed incident that was stalled",
      "incidents",
      { status: { phase: "Completed", outcome: "Remediated", ...stalled } },
      { isOpen: false, outcome: "Remediated", stall: "" },
    ],
    [
      "a new execution",
      "executions",
      { spec: onNode },
      { isOpen: true, phase: "Pending", target: "node/a", workflow: "clean" },
    ],
    [
      "a failed execution",
      "executions",
      { spec: onNode, status: { phase: "Failed", failureDetails: { reason: "Timeout" } } },
      { isOpen: false, reason: "Timeout" },
    ],
    ["an approval that waits", "approvals", { spec: onNode }, { isOpen: true, phase: "Pending", workflow: "clean" }],
    ["a pause of everything", "pauses", { spec: { scope: "All" } }, { isOpen: true, phase: "Active", target: "" }],
    ["a target that is held", "targets", { spec: onNode, status: { holder: {} } }, { isOpen: true, phase: "Held" }],
    [
      "a cancelled task",
      "tasks",
      { spec: onNode, status: { phase: "Cancelled", reason: "NotAMember", completionTime: "2026-11-15T11:00:00Z" } },
      { isOpen: false, reason: "NotAMember", target: "node/a" },
    ],
    ["a notice without a target", "notices", { spec: {} }, { isOpen: true, phase: "Pending", target: "" }],
  ])("of %s", (_name, kind, given, expected) => {
    expect(rowFacts(kind, object(given))).toMatchObject(expected);
  });

  it("name every reason by which an incident that is blocked and stalled is looked for", () => {
    const facts = rowFacts("incidents", object({ status: { ...blocked, ...stalled } }));

    const reasons = reasonGetters.map((getReason) => getReason(facts));

    expect(new Set(reasons)).toEqual(new Set(["Backoff", "RecentlyRemediated", "Forbidden", ""]));
  });
});

function object(given: object): KubeObject {
  return { metadata: { name: "a" }, spec: {}, ...given } as KubeObject;
}
