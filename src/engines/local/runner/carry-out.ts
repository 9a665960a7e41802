import { join } from "node:path";
import type { KubeClient } from "../../../kube/index.ts";
import type { PipelineRun, TaskRun } from "../../tekton/pipeline-run.ts";
import { workflowFolderName } from "../local-marks.ts";
import { allTasks, type PipelineSpec, type PipelineTask } from "../pipeline/spec.ts";
import { decide, knownIn, type ScheduleDecision, type StepAction } from "../schedule/decide.ts";
import { type Known, MissingResult, type Params, taskParams } from "../schedule/values.ts";
import type { RunWorld } from "../schedule/world.ts";
import { pipelineRunStatus } from "../status/pipeline-run-status.ts";
import { toTaskRun } from "../status/task-run.ts";
import { secretsIn } from "../steps/output.ts";
import { stepPlan } from "./launch.ts";
import type { OpenRun, StepTools } from "./open-run.ts";
import { writeRunStatus } from "./publish.ts";
import { toRunWorld } from "./read-run.ts";

export interface CarryOutOptions extends StepTools {
  readonly client: KubeClient;
  readonly directory: { readonly id: string };
  readonly workflowsRoot: string;
  readonly env: Readonly<Record<string, string>>;
  readonly outputBytes: number;
  readonly progressMs: number;
  /** Has a run looked at soon. */
  readonly wake: (key: string) => void;
  readonly nowMs: () => number;
}

export type CarryOutOutcome =
  | { readonly kind: "running"; readonly requeueAfterMs?: number | undefined }
  /** Its end is in the API server. */
  | { readonly kind: "ended"; readonly run: PipelineRun };

/** Observes a run of ours, performs the next actions, and publishes its status. */
export async function carryOut(run: PipelineRun, open: OpenRun, options: CarryOutOptions): Promise<CarryOutOutcome> {
  const attempts = await open.folder.attempts(run.spec.pipelineSpec as PipelineSpec);
  const world = toRunWorld(run, attempts, options.nowMs());
  const turn = { run, open, world, decision: decide(world), options };
  adoptSteps(turn);
  for (const action of turn.decision.actions) await perform(action, turn);

  const outcome = await publish(turn);
  if (outcome.kind === "ended") return outcome;
  const { wakeAt, actions } = turn.decision;
  const wakeInMs = wakeAt === undefined ? undefined : wakeAt - world.now;
  // Steps that were started now are published once they have had time to begin.
  const publishInMs = actions.length > 0 ? options.progressMs : undefined;
  return { kind: "running", requeueAfterMs: soonest(outcome.requeueAfterMs, wakeInMs, publishInMs) };
}

interface RunStep {
  readonly run: PipelineRun;
  readonly open: OpenRun;
  readonly world: RunWorld;
  readonly decision: ScheduleDecision;
  readonly options: CarryOutOptions;
}

/** Takes over the steps that are under way and that this process does not supervise yet. */
function adoptSteps(turn: RunStep) {
  const { open, world } = turn;
  for (const task of allTasks(world.pipeline)) {
    const attempts = world.attempts.get(task.name) ?? [];
    const { steps = [], stop } = attempts.at(-1) ?? {};
    const index = steps.length - 1;
    if (index < 0 || steps[index]?.end) continue;
    const folder = runStep(turn, task, attempts.length - 1, index);
    if (stop) open.stop(folder);
  }
}

async function perform(action: StepAction, turn: RunStep): Promise<void> {
  const { open, world, options } = turn;
  const { task: name, attempt } = action;
  const known = world.attempts.get(name)?.[attempt];
  switch (action.do) {
    case "start-step": {
      const task = allTasks(world.pipeline).find((other) => other.name === name) as PipelineTask;
      if (!known) await open.folder.beginAttempt(name, attempt, options.nowMs());
      // Before the step: a folder without a process is started, a process without a folder would be lost.
      await open.folder.beginStep(name, attempt, action.step);
      runStep(turn, task, attempt, action.step);
      return;
    }
    case "stop": {
      // Before the first signal, or a crash in between would make of it a step that failed by itself.
      await open.folder.noteStop(name, attempt, { why: action.why, at: options.nowMs() });
      open.stop(open.folder.step(name, attempt, (known?.steps.length ?? 0) - 1));
      // Between two steps there is nothing that could end and wake us.
      options.wake(`${open.record.namespace}/${open.record.name}`);
      return;
    }
  }
}

/** Returns the folder of the step. */
function runStep({ run, open, world, decision, options }: RunStep, task: PipelineTask, attempt: number, step: number) {
  const { env, files, outputBytes, workflowsRoot } = options;
  const stepFolder = open.folder.step(task.name, attempt, step);
  const attemptFolder = open.folder.attempt(task.name, attempt);
  const workflowDir = join(workflowsRoot, workflowFolderName(run));
  const place = { run, world, views: decision.tasks, task, attempt, step, attemptFolder, stepFolder, workflowDir, env };
  const plan = stepPlan(place);
  const secrets = secretsIn({ ...plan.params, ...plan.env });
  open.supervise({
    folder: stepFolder,
    secrets,
    launch: async () => {
      // For `interlock logs -f`, which must not show them. Removed with the output that may contain them.
      await files.write(join(stepFolder, "secrets"), JSON.stringify(secrets));
      if (plan.script !== undefined) await files.write(join(stepFolder, "script"), plan.script);
      return { folder: stepFolder, argv: plan.argv, env: plan.env, workingDir: plan.workingDir, outputBytes };
    },
  });
  return stepFolder;
}

/** Publishes changes to the API server: the end at once, anything else not too often. */
async function publish({ run, open, world, decision, options }: RunStep): Promise<CarryOutOutcome> {
  const { client, clock, directory, progressMs } = options;
  const isEnd = decision.run.kind !== "running";
  const status = pipelineRunStatus(run, world, decision, directory.id);
  const wanted = wantedTaskRuns(run, world, decision);
  const text = JSON.stringify(status);
  if (!isEnd) {
    const isKnown = open.published?.text === text && wanted.every((taskRun) => open.taskRuns.isWritten(taskRun));
    if (isKnown) return { kind: "running" };
    open.published ??= { text: "", at: clock.now() };
    const dueInMs = open.published.at + progressMs - clock.now();
    if (dueInMs > 0) return { kind: "running", requeueAfterMs: dueInMs };
  }
  // Tasks first: a client that sees the end of the run may read them.
  for (const taskRun of wanted) await open.taskRuns.write(taskRun);
  const outcome = await writeRunStatus(client, run, status);
  if (outcome.kind !== "updated") return { kind: "running", requeueAfterMs: 0 };
  open.published = { text, at: clock.now() };
  return isEnd ? { kind: "ended", run: outcome.object } : { kind: "running" };
}

function wantedTaskRuns(run: PipelineRun, world: RunWorld, decision: ScheduleDecision): readonly TaskRun[] {
  const known = knownIn(world, decision.tasks);
  return allTasks(world.pipeline).flatMap((task) => {
    const attempts = world.attempts.get(task.name);
    const view = decision.tasks.get(task.name);
    if (!attempts || !view) return [];
    const isFinally = world.pipeline.finally?.includes(task) ?? false;
    return [toTaskRun({ run, task, isFinally, attempts, view, params: resolveParams(task, known) })];
  });
}

function resolveParams(task: PipelineTask, known: Known): Params {
  try {
    return taskParams(task, known);
  } catch (error) {
    // It has begun, so they were there; what cannot be shown now is left out.
    if (error instanceof MissingResult) return {};
    throw error;
  }
}

function soonest(...delays: readonly (number | undefined)[]): number | undefined {
  const known = delays.filter((delay) => delay !== undefined);
  return known.length > 0 ? Math.max(0, Math.min(...known)) : undefined;
}
