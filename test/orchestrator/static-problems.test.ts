import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { previewLines } from "../../src/cli/commands/receive.ts";
import type { Rule } from "../../src/policy/index.ts";
import type { RemediationWorkflowSpec } from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { defaultSettings, diskRule, minute, OrchestratorWorld } from "./orchestrator-world.ts";

let world: OrchestratorWorld;
beforeEach(async () => {
  world = await OrchestratorWorld.open();
  await world.executor();
});
afterEach(() => world.close());

const settings = { ...defaultSettings, engines: { available: ["tekton"], default: "tekton" } } as const;
const cases: readonly [string, Partial<RemediationWorkflowSpec>, string][] = [
  ["whose workflow refuses the kind of its target", { targetKinds: ["deployment"] }, "is not for a node"],
  [
    "whose workflow has an engine that is not set up",
    { engine: "job" },
    "engine job of workflow unfit is not set up here",
  ],
  [
    "whose workflow lacks a parameter",
    { parameters: { properties: { path: { type: "string" } }, required: ["path"] } },
    "parameter path is missing",
  ],
];

describe("an incident", () => {
  it.each(cases)("%s is blocked at once, without any execution or page", async (_what, spec, problem) => {
    await world.workflow({ workflowId: "unfit", ...spec });
    world.rules.set({ ...diskRule, workflow: "unfit" });
    await world.orchestrator({ settings });

    const name = await world.incident("disk");
    await world.passTime(60 * minute);

    const { phase, block } = await world.status(name);
    expect({ phase, reason: block?.reason }).toEqual({ phase: "Blocked", reason: "NoMatchingRule" });
    expect(block?.message).toContain(problem);
    expect(await world.executions()).toEqual([]);
    expect((await world.notices()).map(({ spec }) => spec.eventType)).toEqual(["IncidentBlocked"]);
  });

  it("continues when the workflow is corrected", async () => {
    await world.workflow({ workflowId: "unfit", version: "1.0.0", targetKinds: ["deployment"] });
    world.rules.set({ ...diskRule, workflow: "unfit" });
    await world.orchestrator({ settings });
    const name = await world.incident("disk");

    await world.workflow({ workflowId: "unfit", version: "1.1.0", targetKinds: ["node"] });

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });

  it.each(cases)("%s is explained by why and by a dry run", async (_what, spec, problem) => {
    await world.workflow({ workflowId: "unfit", ...spec });
    const rule: Rule = { ...diskRule, workflow: "unfit" };
    world.rules.set(rule);
    await world.orchestrator({ settings });
    const name = await world.incident("disk");
    const cli = new TestCli(world.client, { rules: [rule], events: () => world.ledger.events() });

    await cli.run("why", name);
    const preview = await previewLines([{ status: "created", message: "", spec: world.draft("disk").spec }], cli);

    expect(cli.read()).toMatch(new RegExp(`Now: unfit on node/worker-1: not now, NoMatchingRule[^]*${problem}`));
    expect(preview.join("\n")).toMatch(new RegExp(`policy +not now, NoMatchingRule: .*${problem}`));
  });
});
