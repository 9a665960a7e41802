import { byAge, type KubeClient, type KubeObject, type ObjectRef, type ResourceType } from "../../kube/index.ts";
import { jobs, listJobPods } from "../job/job.ts";
import { type ContainerState, listIfReadable, type Pod, type RunCondition } from "../pods.ts";
import { runOwner } from "../run-marks.ts";
import {
  listTaskRuns,
  type PipelineRun,
  pipelineRuns,
  succeededCondition,
  type TaskRun,
  tektonLabels,
} from "../tekton/pipeline-run.ts";

/** One task of a run, by the objects below the run. */
export interface RunTask {
  readonly name: string;
  readonly phase: TaskPhase;
  /** The tasks that it waits for. */
  readonly after: readonly string[];
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly steps: readonly RunStep[];
}

export interface RunStep {
  readonly name: string;
  readonly phase: TaskPhase;
  readonly exitCode?: number;
}

type TaskPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Skipped";

export interface RunToRead extends ObjectRef {
  readonly uid: string;
  readonly kind: string;
}

/** The visible state of a run. */
export interface RunView {
  /** The version of the target record with which its execution was admitted. */
  readonly fence?: string;
  readonly tasks: readonly RunTask[];
}

/** Reads the tasks and steps of a run. There are none if the run was deleted, or reading it is forbidden. */
export async function viewRun(client: KubeClient, run: RunToRead): Promise<RunView> {
  if (run.kind === "Job") {
    const job = await find(client, jobs, run);
    return job ? toView(job, jobTasks((await listJobPods(client, job)) ?? [])) : { tasks: [] };
  }
  const pipelineRun = await find(client, pipelineRuns, run);
  if (!pipelineRun) return { tasks: [] };
  const below = (await listTaskRuns(client, pipelineRun)) ?? [];
  return toView(pipelineRun, pipelineTasks(pipelineRun, below));
}

/** Finds the run by its uid: one of the same name with another uid belongs to another execution. */
async function find<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { namespace = "", name, uid }: RunToRead,
): Promise<T | undefined> {
  const found = await listIfReadable(client, type, { namespace, fieldSelector: `metadata.name=${name}` });
  return found?.find(({ metadata }) => metadata.uid === uid);
}

function toView(run: KubeObject, tasks: readonly RunTask[]): RunView {
  const { fence } = runOwner(run);
  return { ...(fence !== undefined && { fence }), tasks };
}

/** Returns the tasks of a pipeline in its order, those of `finally` after all others. */
export function pipelineTasks(run: PipelineRun, found: readonly TaskRun[]): readonly RunTask[] {
  const { tasks = [], finally: last = [] } = run.status?.pipelineSpec ?? run.spec.pipelineSpec ?? {};
  const byTask = new Map(found.map((task) => [task.metadata.labels?.[tektonLabels.pipelineTask] ?? "", task]));
  const skipped = new Set((run.status?.skippedTasks ?? []).map(({ name }) => name));
  const names = tasks.map(({ name }) => name);
  return [
    ...tasks.map((task) => ({ name: task.name, after: dependencies(task, names) })),
    ...last.map(({ name }) => ({ name, after: lastTasks(tasks, names) })),
  ].map((task) => ({ ...task, ...taskState(byTask.get(task.name), skipped.has(task.name)) }));
}

/** Returns the tasks in `runAfter`, and those whose results are used in parameters and conditions. */
function dependencies(task: object, names: readonly string[]): readonly string[] {
  const { runAfter = [] } = task as { readonly runAfter?: readonly string[] };
  const used = [...JSON.stringify(task).matchAll(/\$\(tasks\.([^.)]+)\.results\b/g)].map(([, name]) => name ?? "");
  return [...new Set([...runAfter, ...used])].filter((name) => names.includes(name));
}

/** Returns the tasks that no other task waits for. */
function lastTasks(tasks: readonly { readonly name: string }[], names: readonly string[]): readonly string[] {
  const awaited = new Set(tasks.flatMap((task) => dependencies(task, names)));
  return names.filter((name) => !awaited.has(name));
}

function taskState(task: TaskRun | undefined, isSkipped: boolean): Omit<RunTask, "name" | "after"> {
  const { status } = task ?? {};
  const phase = conditionPhase(succeededCondition(status), status?.startTime !== undefined);
  return {
    phase: isSkipped ? "Skipped" : phase,
    ...(status?.startTime && { startedAt: status.startTime }),
    ...(status?.completionTime && { endedAt: status.completionTime }),
    steps: (status?.steps ?? []).map((step) => ({ name: step.name, ...stepState(step) })),
  };
}

function conditionPhase(condition: RunCondition | undefined, hasStarted: boolean): TaskPhase {
  if (condition?.status === "True") return "Succeeded";
  if (condition?.status === "False") return "Failed";
  return hasStarted ? "Running" : "Pending";
}

function stepState({ running, terminated }: ContainerState): Omit<RunStep, "name"> {
  if (terminated) {
    return { phase: terminated.exitCode === 0 ? "Succeeded" : "Failed", exitCode: terminated.exitCode };
  }
  return { phase: running ? "Running" : "Pending" };
}

/** Returns the only task of a Job. Each of its pods is one attempt; the latest is shown. */
function jobTasks(pods: readonly Pod[]): readonly RunTask[] {
  const latest = [...pods].sort(byAge).at(-1);
  if (!latest) return [];
  const containers = latest.status?.containerStatuses ?? [];
  const phase = { Succeeded: "Succeeded", Failed: "Failed", Running: "Running" } as const;
  const times = containers.map(({ state }) => state?.terminated ?? state?.running);
  const startedAt = times.map((time) => time?.startedAt).find((time) => time !== undefined);
  const endedAt = containers.map(({ state }) => state?.terminated?.finishedAt).at(-1);
  return [
    {
      name: "job",
      phase: phase[latest.status?.phase as keyof typeof phase] ?? "Pending",
      after: [],
      ...(startedAt && { startedAt }),
      ...(endedAt && { endedAt }),
      steps: containers.map(({ name, state = {} }) => ({ name, ...stepState(state) })),
    },
  ];
}
