import { join } from "node:path";
import type { KubeClient } from "../../../kube/index.ts";
import type { PipelineRun, TaskRun } from "../../tekton/pipeline-run.ts";
import { secretParameters, workflowFolderName } from "../local-marks.ts";
import { allTasks, type PipelineSpec, type PipelineTask } from "../pipeline/spec.ts";
import { decide, type ScheduleDecision, type StepAction, valueSource } from "../schedule/decide.ts";
import type { RunSnapshot } from "../schedule/run-snapshot.ts";
import { MissingResult, type Params, taskParams, type ValueSource } from "../schedule/values.ts";
import { pipelineRunStatus } from "../status/pipeline-run-status.ts";
import { toTaskRun } from "../status/task-run.ts";
import { listSecrets } from "../steps/output.ts";
import { stepPlan } from "./launch.ts";
import type { OpenRun, StepTools } from "./open-run.ts";
import { writeRunStatus } from "./publish.ts";
import { toRunSnapshot } from "./read-run.ts";

export interface CarryOutOptions extends StepTools {
  readonly client: KubeClient;
  readonly directory: { readonly id: string };
  readonly workflowsRoot: string;
  readonly env: Readonly<Record<string, string>>;
  readonly outputBytes: number;
  readonly progressMs: number;
  /** Reconciles a run soon. */
  readonly wake: (key: string) => void;
  readonly nowMs: () => number;
}

export type CarryOutOutcome =
  | { readonly kind: "running"; readonly requeueAfterMs?: number | undefined }
  /** The end of the run is in the API server. */
  | { readonly kind: "ended"; readonly run: PipelineRun };

/** Observes a run of this data directory, performs the next actions, and publishes the status of the run. */
export async function carryOut(run: PipelineRun, open: OpenRun, options: CarryOutOptions): Promise<CarryOutOutcome> {
  const attempts = await open.folder.attempts(run.spec.pipelineSpec as PipelineSpec);
  const snapshot = toRunSnapshot(run, attempts, options.nowMs());
  const context = { run, open, snapshot, decision: decide(snapshot), options };
  adoptSteps(context);
  for (const action of context.decision.actions) await perform(action, context);

  const outcome = await publish(context);
  if (outcome.kind === "ended") return outcome;
  const { wakeAt, actions } = context.decision;
  const wakeInMs = wakeAt === undefined ? undefined : wakeAt - snapshot.now;
  // The start of a step is published a moment later, when the step has begun.
  const publishInMs = actions.length > 0 ? options.progressMs : undefined;
  return { kind: "running", requeueAfterMs: soonest(outcome.requeueAfterMs, wakeInMs, publishInMs) };
}

interface RunContext {
  readonly run: PipelineRun;
  readonly open: OpenRun;
  readonly snapshot: RunSnapshot;
  readonly decision: ScheduleDecision;
  readonly options: CarryOutOptions;
}

/** Supervises the running steps that an earlier process started. */
function adoptSteps(context: RunContext) {
  const { open, snapshot } = context;
  for (const task of allTasks(snapshot.pipeline)) {
    const attempts = snapshot.attempts.get(task.name) ?? [];
    const { steps = [], stop } = attempts.at(-1) ?? {};
    const index = steps.length - 1;
    if (index < 0 || steps[index]?.end) continue;
    const folder = runStep(context, task, attempts.length - 1, index);
    if (stop) open.stop(folder);
  }
}

async function perform(action: StepAction, context: RunContext): Promise<void> {
  const { open, snapshot, options } = context;
  const { task: name, attempt } = action;
  const begun = snapshot.attempts.get(name)?.[attempt];
  switch (action.do) {
    case "start-step": {
      const task = allTasks(snapshot.pipeline).find((other) => other.name === name) as PipelineTask;
      if (!begun) await open.folder.beginAttempt(name, attempt, options.nowMs());
      // Before the step: a step with a folder and without a process is started again; a process without a folder would be lost.
      await open.folder.beginStep(name, attempt, action.step);
      runStep(context, task, attempt, action.step);
      return;
    }
    case "stop": {
      // Before the first signal: after a crash in between, the step would seem to have failed by itself.
      await open.folder.noteStop(name, attempt, { why: action.why, at: options.nowMs() });
      open.stop(open.folder.step(name, attempt, (begun?.steps.length ?? 0) - 1));
      // Between two steps no process ends, so no event follows.
      options.wake(`${open.record.namespace}/${open.record.name}`);
      return;
    }
  }
}

/** Supervises a step, which is started if it never ran. Returns its folder. */
function runStep(
  { run, open, snapshot, decision, options }: RunContext,
  task: PipelineTask,
  attempt: number,
  step: number,
) {
  const { env, files, outputBytes, workflowsRoot } = options;
  const stepFolder = open.folder.step(task.name, attempt, step);
  const attemptFolder = open.folder.attempt(task.name, attempt);
  const workflowDir = join(workflowsRoot, workflowFolderName(run));
  const place = {
    run,
    snapshot,
    views: decision.tasks,
    task,
    attempt,
    step,
    attemptFolder,
    stepFolder,
    workflowDir,
    env,
  };
  const plan = stepPlan(place);
  const secrets = listSecrets({ ...plan.params, ...plan.env }, secretParameters(run));
  open.supervise({
    folder: stepFolder,
    secrets,
    launch: async () => {
      // `interlock logs -f` redacts these values. The file is removed together with the raw output, which may contain them.
      await files.write(join(stepFolder, "secrets"), JSON.stringify(secrets));
      if (plan.script !== undefined) await files.write(join(stepFolder, "script"), plan.script);
      return { folder: stepFolder, argv: plan.argv, env: plan.env, workingDir: plan.workingDir, outputBytes };
    },
  });
  return stepFolder;
}

/** Publishes changes to the API server: the end at once, other changes at most once per `progressMs`. */
async function publish({ run, open, snapshot, decision, options }: RunContext): Promise<CarryOutOutcome> {
  const { client, clock, directory, progressMs } = options;
  const isEnd = decision.run.kind !== "running";
  const status = pipelineRunStatus(run, snapshot, decision, directory.id);
  const wanted = toTaskRuns(run, snapshot, decision);
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

function toTaskRuns(run: PipelineRun, snapshot: RunSnapshot, decision: ScheduleDecision): readonly TaskRun[] {
  const source = valueSource(snapshot, decision.tasks);
  return allTasks(snapshot.pipeline).flatMap((task) => {
    const attempts = snapshot.attempts.get(task.name);
    const view = decision.tasks.get(task.name);
    if (!attempts || !view) return [];
    const isFinally = snapshot.pipeline.finally?.includes(task) ?? false;
    return [toTaskRun({ run, task, isFinally, attempts, view, params: resolveParams(task, source) })];
  });
}

function resolveParams(task: PipelineTask, source: ValueSource): Params {
  try {
    return taskParams(task, source);
  } catch (error) {
    // The task has begun, so the results were there then; parameters that cannot be shown now are omitted.
    if (error instanceof MissingResult) return {};
    throw error;
  }
}

function soonest(...delays: readonly (number | undefined)[]): number | undefined {
  const defined = delays.filter((delay) => delay !== undefined);
  return defined.length > 0 ? Math.max(0, Math.min(...defined)) : undefined;
}
