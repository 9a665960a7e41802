import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasRealTekton } from "../../../src/engines/local/real-tekton.ts";
import { kubeEvents } from "../../../src/kube/index.ts";
import type { Engine, WorkflowExecution } from "../../../src/resources/index.ts";
import { notApplicable } from "../../services/not-applicable.ts";
import { clientOf } from "./place.ts";
import { Stage } from "./stage.ts";
import { until } from "./until.ts";

// In a real cluster: TEST_KUBECONFIG=FILE TEST_TEKTON_BUNDLE=IMAGE TEST_JOB_IMAGE=IMAGE npm test -- processes/lifecycle
// The bundle has a pipeline called `workflow`, both succeed without parameters, and as an ordinary user. No other
// executor may be at work there.
const { TEST_KUBECONFIG: kubeconfigFile, TEST_TEKTON_BUNDLE, TEST_JOB_IMAGE } = process.env;
const where = kubeconfigFile ? "the cluster of TEST_KUBECONFIG" : "interlock api";
const images: Partial<Record<Engine, string | undefined>> = { tekton: TEST_TEKTON_BUNDLE, job: TEST_JOB_IMAGE };
const slow = { withinMs: 120_000 };

describe.each(["tekton", "job", "local"] as const)(`an execution on %s, in ${where}`, (engine) => {
  let stage: Stage | undefined;
  let missing: string | undefined;

  beforeAll(async () => {
    missing = await whatIsMissing(engine);
    if (missing) return;
    stage = await Stage.open({ engines: [engine], cooldown: "5s", kubeconfigFile });
    stage.executor();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  it("runs, completes, frees its target, keeps its cooldown, and can run again", { timeout: 300_000 }, async (test) => {
    if (!stage) return notApplicable(test, missing ?? "the stage did not open");
    const order = { engine, target: "node/lifecycle", does: "succeed", image: images[engine] } as const;
    const first = await ended(stage, await stage.create("first", order));
    const early = await ended(stage, await stage.create("early", order));
    await until("the run is removed when the cooldown is over", () => noRuns(stage, first), slow);
    const second = await ended(stage, await stage.create("second", order));

    expect(first.status).toMatchObject({
      phase: "Completed",
      outcome: "Success",
      pipelineRunStatus: { status: "True" },
    });
    expect(first.status?.conditions?.map(({ type }) => type)).toEqual(["Recorded", "TargetFreed"]);
    expect(early.status).toMatchObject({
      phase: "Skipped",
      skipDetails: { reason: "RecentlyRemediated", cause: "cooldown", recentRemediation: { uid: first.metadata.uid } },
    });
    expect(second.status).toMatchObject({ phase: "Completed" });
    expect((await stage.record(order.target))?.status?.holder).toBeUndefined();
    expect(await trails(stage, [first, early, second])).toEqual([wholeTrail, ["execution.skipped"], wholeTrail]);
    expect(await reasonsOf(stage, first)).toEqual(["RunCreated", "TargetFreed", "WorkflowCompleted"]);
    // Runs in a real cluster cannot reach our witness.
    if (!images[engine])
      expect(stage.witness.read().map(({ reported }) => reported)).toEqual(["start", "end", "start", "end"]);
  });
});

const wholeTrail = ["execution.admitted", "execution.completed", "execution.started", "run.created", "target.freed"];

/** The reason why a part cannot run in a real cluster. */
async function whatIsMissing(engine: Engine): Promise<string | undefined> {
  if (!kubeconfigFile) return undefined;
  if (engine === "tekton" && !TEST_TEKTON_BUNDLE)
    return "set TEST_TEKTON_BUNDLE to a bundle with a pipeline `workflow`";
  if (engine === "job" && !TEST_JOB_IMAGE) return "set TEST_JOB_IMAGE to an image that succeeds as an ordinary user";
  const client = await clientOf(kubeconfigFile);
  if (engine === "local" && (await hasRealTekton(client)))
    return "the engine local is refused where Tekton is installed";
  return undefined;
}

/** Its end is in the ledger, and its target is free. */
function ended(stage: Stage, { metadata: { name = "" } }: WorkflowExecution): Promise<WorkflowExecution> {
  return until(
    `${name} has ended`,
    async () => {
      const found = await stage.execution(name);
      return found?.status?.conditions?.some(({ type }) => type === "Recorded") ? found : undefined;
    },
    slow,
  );
}

async function noRuns(stage: Stage | undefined, { metadata }: WorkflowExecution): Promise<boolean> {
  return (await stage?.runsOf(metadata.uid ?? ""))?.length === 0;
}

async function trails(stage: Stage, executions: readonly WorkflowExecution[]) {
  const all = await stage.ledger();
  return executions.map(({ metadata }) => (all.get(metadata.uid ?? "") ?? []).map(({ type }) => type).sort());
}

async function reasonsOf({ client }: Stage, { metadata: { uid, namespace = "" } }: WorkflowExecution) {
  const { items } = await client.list(kubeEvents, { namespace });
  return items.flatMap((event) => (event.involvedObject.uid === uid ? [event.reason ?? ""] : [])).sort();
}
