import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Story, stories } from "./crash-point.ts";
import { type CrashPointsPlan, playCrashPoints } from "./crash-points.ts";
import { Stage } from "./stage.ts";

const [succeeds, fails, isDeleted] = stories as [Story, Story, Story];
type Plan = Omit<CrashPointsPlan, "engine">;

/** Some of the points at which something can happen; `npm run crash-points` goes through all of them. */
const plans = {
  tekton: [
    { story: succeeds, step: 2, mishaps: ["dies after"] },
    { story: isDeleted, from: 7, step: 5, mishaps: ["dies before"] },
  ],
  job: [
    { story: succeeds, from: 3, step: 3, mishaps: ["is paused before"] },
    { story: fails, from: 2, step: 3, mishaps: ["dies after"] },
  ],
  local: [
    { story: succeeds, from: 2, step: 3, mishaps: ["dies before"] },
    { story: isDeleted, from: 9, step: 5, mishaps: ["dies after"] },
  ],
} satisfies Record<string, readonly Plan[]>;

describe.each(["tekton", "job", "local"] as const)("an executor with the engine %s", (engine) => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({ engines: [engine] });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it.each(plans[engine].map((plan) => ({ ...plan, what: plan.story.name, mishap: plan.mishaps[0] })))(
    "that $mishap a write leaves nothing undone and does nothing twice, for an execution that $what",
    { timeout: 240_000 },
    async (plan: Plan) => {
      const { problems, writes } = await playCrashPoints(stage, { engine, ...plan });

      expect(problems).toEqual([]);
      // Otherwise nothing happened, and nothing was shown.
      expect(writes).toBeGreaterThan(8);
    },
  );
});
