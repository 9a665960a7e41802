import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../kube/index.ts";
import { builtInKinds } from "../../resources/index.ts";
import { MisuseError } from "../command.ts";
import { type FilterOptions, openFilter } from "./filters.ts";
import { readKind } from "./kinds.ts";

const nowMs = Date.parse("2026-11-15T12:00:00Z");

const approval = { recommendedWorkflow: {}, targetResource: "node/a", whyApprovalRequired: "new" };

const objects: Readonly<Record<string, readonly KubeObject[]>> = {
  incidents: [
    object("new", {}),
    object("blocked", { status: { phase: "Blocked", block: { reason: "Paused" } } }),
    object("backoff", { status: { phase: "Blocked", block: { reason: "RecentlyRemediated", cause: "backoff" } } }),
    object("cooldown", { status: { phase: "Blocked", block: { reason: "RecentlyRemediated", cause: "cooldown" } } }),
    object("closed", { status: { phase: "Failed", outcome: "TimedOut" }, created: "2026-11-14T00:00:00Z" }),
    object("stalled", { status: { phase: "Executing", conditions: [stall("Forbidden")] } }),
    object("pod", { spec: { targetResource: { kind: "Pod", namespace: "shop", name: "api-1" } } }),
    object("diagnosed", {
      spec: { targetResource: { kind: "Pod", namespace: "shop", name: "api-1" } },
      status: { phase: "Executing", diagnosis: { target: "shop/deployment/api", workflowId: "restart" } },
    }),
  ],
  executions: [
    object("skipped", {
      spec: { targetResource: "node/a", workflowRef: {} },
      status: { phase: "Skipped", skipDetails: { reason: "Paused" } },
    }),
    object("failed", {
      spec: { targetResource: "node/b", workflowRef: {} },
      status: { phase: "Failed", failureDetails: { reason: "Timeout" } },
    }),
  ],
  pauses: [
    object("active", { spec: { scope: "All", reason: "release" } }),
    object("over", { spec: { scope: "All", reason: "release", until: "2026-11-15T11:00:00Z" } }),
    object("ended", { spec: { scope: "All", reason: "freeze" }, status: { endedAt: "2026-11-15T11:00:00Z" } }),
  ],
  approvals: [object("open", { spec: approval }), object("yes", { spec: approval, status: { decision: "Approved" } })],
  tasks: [
    object("main", {
      spec: { targetResource: "git:host/group/app@main", type: "Issue", project: { id: 42 }, issue: {} },
    }),
    object("refused", {
      spec: { targetResource: "git:host/a@b", type: "Issue", project: { id: 1 }, issue: {} },
      status: { phase: "Cancelled", reason: "NotAMember" },
    }),
  ],
};

describe("filters of interlock get", () => {
  it.each<[string, FilterOptions, readonly string[]]>([
    ["incidents", {}, ["new", "blocked", "backoff", "cooldown", "closed", "stalled", "pod", "diagnosed"]],
    ["incidents", { phase: ["pending"] }, ["new", "pod"]],
    ["incidents", { phase: ["Failed,executing"] }, ["closed", "stalled", "diagnosed"]],
    ["incidents", { phase: ["Failed", "Blocked"], reason: ["Paused"] }, ["blocked"]],
    ["incidents", { reason: ["backoff"] }, ["backoff"]],
    ["incidents", { reason: ["RecentlyRemediated"] }, ["backoff", "cooldown"]],
    ["incidents", { reason: ["TimedOut", "Forbidden"] }, ["closed", "stalled"]],
    ["incidents", { lane: ["backingOff,CoolingDown"] }, ["backoff", "cooldown"]],
    ["incidents", { lane: ["needsYou"], phase: ["Executing"] }, ["stalled"]],
    ["incidents", { workflow: ["restart", "clean"] }, ["diagnosed"]],
    ["incidents", { search: "executing SHOP/deployment" }, ["diagnosed"]],
    ["incidents", { target: "shop/pod/api-1" }, ["pod", "diagnosed"]],
    ["incidents", { target: "shop/deploy/api" }, ["diagnosed"]],
    ["incidents", { since: "24h", phase: ["Failed"] }, []],
    ["incidents", { since: "2026-11-13T00:00:00Z", phase: ["Failed"] }, ["closed"]],
    ["executions", { phase: ["Skipped"] }, ["skipped"]],
    ["executions", { reason: ["Timeout", "Paused"] }, ["skipped", "failed"]],
    ["executions", { target: "nodes/b" }, ["failed"]],
    ["pauses", { phase: ["active"] }, ["active"]],
    ["pauses", { search: "release" }, ["active", "over"]],
    ["pauses", { phase: ["Ended"] }, ["over", "ended"]],
    ["approvals", { phase: ["Pending"] }, ["open"]],
    ["approvals", { phase: ["approved"] }, ["yes"]],
    ["tasks", { target: "git:host/42" }, ["main"]],
    ["tasks", { target: "git:host/group/app@main" }, ["main"]],
    ["tasks", { reason: ["NotAMember"] }, ["refused"]],
  ])("of %s, %j selects %j", async (word, options, expected) => {
    const isWanted = await openFilter(readKind(word), options, { nowMs, kinds: async () => builtInKinds });

    expect((objects[word] ?? []).filter(isWanted).map(({ metadata }) => metadata.name)).toEqual(expected);
  });

  it.each<[string, FilterOptions, string]>([
    ["incidents", { phase: ["Bloked"] }, 'unknown phase "Bloked" (did you mean Blocked?)'],
    ["incidents", { phase: ["Skipped"] }, 'unknown phase "Skipped" (write one of Pending, Analyzing'],
    ["executions", { reason: ["Timeot"] }, 'unknown reason "Timeot" (did you mean Timeout?)'],
    ["incidents", { target: "worker-1" }, 'the target "worker-1" is not a target'],
    ["incidents", { since: "yesterday" }, "--since yesterday is not a time"],
    ["incidents", { since: "5" }, "--since 5 is not a time"],
    ["targets", { phase: ["Held"] }, "targets have no phase"],
    ["workflows", { target: "node/a" }, "workflows have no target"],
    ["approvals", { reason: ["Paused"] }, "approvals have no reason"],
    ["workflows", { reason: ["Paused"] }, "workflows have no reason"],
    ["workflows", { search: "clean" }, "workflows cannot be selected by search"],
    ["executions", { lane: ["queued"] }, "executions have no lane"],
    ["incidents", { lane: ["needYou"] }, 'unknown lane "needYou" (did you mean needsYou?)'],
    ["incidents", { search: "x".repeat(201) }, "a search has at most 200 characters"],
  ])("of %s, %j is refused rather than selecting nothing", async (word, options, problem) => {
    const opened = openFilter(readKind(word), options, { nowMs, kinds: async () => builtInKinds });

    await expect(opened).rejects.toThrow(MisuseError);
    await expect(opened).rejects.toThrow(problem);
  });
});

function object(
  name: string,
  {
    created = "2026-11-15T11:30:00Z",
    ...rest
  }: { readonly created?: string; readonly spec?: object; readonly status?: object },
): KubeObject {
  const spec = { targetResource: { kind: "Node", name: "x" } };
  return { metadata: { name, creationTimestamp: created }, spec, ...rest } as KubeObject;
}

function stall(reason: string) {
  const time = "2026-11-15T11:00:00Z";
  return { type: "Stalled", status: "True", reason, message: "no", lastTransitionTime: time };
}
