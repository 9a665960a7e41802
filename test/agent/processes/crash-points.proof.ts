import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentStage, type Backend } from "./agent-stage.ts";
import { type CrashPlan, playAgentCrashPoints } from "./crash-points.ts";
import { type CrashStory, crashStories } from "./crash-story.ts";

const [review, command, issue] = crashStories as [CrashStory, CrashStory, CrashStory];

/** Kills agents at some of their writes; `npm run agent-crash-points` covers all writes. */
const plans: Readonly<Record<Backend, readonly CrashPlan[]>> = {
  redis: [
    { story: review, side: "remote", whens: ["after"], from: 2, step: 2 },
    { story: command, side: "api", whens: ["after"], from: 2, step: 4 },
    { story: issue, side: "remote", whens: ["before"], from: 2, step: 3 },
  ],
  kubernetes: [
    { story: command, side: "remote", whens: ["after"], from: 3, step: 2 },
    { story: issue, side: "api", whens: ["before"], from: 6, step: 8 },
  ],
};

describe.each<Backend>(["redis", "kubernetes"])("an agent that dies at a write, with state in %s,", (backend) => {
  let stage: AgentStage;

  beforeAll(async () => {
    stage = await AgentStage.open({ backend, locksTtl: "2s" });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it.each(plans[backend].map((plan) => ({ ...plan, what: plan.story.name, when: plan.whens[0] })))(
    "omits nothing and repeats nothing: $what, $when a write ($side)",
    { timeout: 300_000 },
    async (plan) => {
      const { problems, writes } = await playAgentCrashPoints(stage, plan);

      expect(problems).toEqual([]);
      // Without a kill, the run proves nothing.
      expect(writes).toBeGreaterThan(1);
    },
  );
});

/** Mistakes that make an agent do things twice, and the write after which it dies to show them. */
const mutants = [
  {
    what: "does not look for what it pushed",
    mutation: { file: "flows/change-branch.ts", from: "if (found) return", to: "if (found === uid) return" },
    plan: { story: command, side: "remote", whens: ["after"], from: 3, step: 100 },
  },
  {
    what: "does not search for its earlier notes",
    mutation: {
      file: "work/post-once.ts",
      from: "if (existing) return existing",
      to: "if (existing && tries > 1) return existing",
    },
    plan: { story: review, side: "remote", whens: ["after"], from: 3, step: 100 },
  },
] as const;

describe("an agent with a mistake", () => {
  it.each(mutants)("that $what is found", { timeout: 120_000 }, async ({ mutation, plan }) => {
    await using stage = await AgentStage.open({ backend: "redis", locksTtl: "2s", mutations: [mutation] });

    const { problems } = await playAgentCrashPoints(stage, plan);

    expect(problems.join()).toContain("instead of");
  });
});
