import { type Pod, pods } from "../../src/engines/pods.ts";
import {
  type PipelineRun,
  pipelineRuns,
  type StepState,
  succeededCondition,
  type TaskRun,
  taskRuns,
  tektonLabels,
} from "../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient, KubeObject } from "../../src/kube/index.ts";
import { labelKeys } from "../../src/resources/index.ts";
import { type Clock, parseDuration } from "../../src/time/index.ts";
import { type Behaviour, begins, type Ending, perform } from "./behaviour.ts";
import {
  type Activities,
  type DoubleOptions,
  type RunningDouble,
  runDouble,
  timeText,
  writeStatus,
} from "./run-controller.ts";

/** The content of a bundle: tasks one after the other, whose steps are scripted. */
export interface BundledPipeline {
  /** Parameters without a default. */
  readonly params?: readonly string[];
  readonly tasks: readonly BundledTask[];
}

export interface BundledTask {
  readonly name: string;
  readonly steps: readonly { readonly name: string; readonly does: Behaviour }[];
}

export interface TektonOptions extends DoubleOptions {
  /** By the bundle's image. Any other image does not exist. */
  readonly bundles: Readonly<Record<string, BundledPipeline>>;
}

/**
 * Acts on PipelineRuns as Tekton 1.0 was recorded to, except that there is no `finally`, no retry and one task at a
 * time. Runs of the local engine are not its business.
 */
export function tektonController(options: TektonOptions): RunningDouble {
  const { client, clock, bundles } = options;
  return runDouble<PipelineRun>(
    { type: pipelineRuns, look: (run, activities) => look({ client, clock, bundles, run, activities }) },
    options,
  );
}

interface TektonCaches {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly bundles: TektonOptions["bundles"];
  readonly run: PipelineRun;
  readonly activities: Activities;
}

async function look(caches: TektonCaches): Promise<undefined> {
  const { client, clock, run, activities } = caches;
  const condition = succeededCondition(run.status);
  if (run.metadata.labels?.[labelKeys.engine] === "local") return;
  if (condition && condition.status !== "Unknown") return;

  const activity = activities.of(run);
  if (run.spec.status === "Cancelled") {
    if (activity) activity.stop.abort("cancelled");
    else await writeStatus(client, pipelineRuns, run, cancelled(run, clock));
  } else if (run.spec.status === "PipelineRunPending" && !run.status?.startTime) {
    if (condition) return;
    const message = `PipelineRun "${run.metadata.name}" is pending`;
    await writeStatus(client, pipelineRuns, run, {
      conditions: [succeeded(clock, "Unknown", "PipelineRunPending", message)],
    });
  } else if (!activity) {
    activities.begin(run, (signal) => new PipelineActivity(caches, signal).run());
  }
}

/** One run from its start to its end. */
class PipelineActivity {
  readonly #caches: TektonCaches;
  readonly #signal: AbortSignal;
  readonly #startTime: string;
  readonly #children: { apiVersion: string; kind: string; name: string; pipelineTaskName: string }[] = [];

  constructor(caches: TektonCaches, signal: AbortSignal) {
    this.#caches = caches;
    this.#signal = signal;
    this.#startTime = timeText(caches.clock);
  }

  async run() {
    const { run, clock, bundles } = this.#caches;
    const param = (list: readonly { name: string; value: unknown }[] = [], name: string) =>
      list.find((candidate) => candidate.name === name)?.value;
    const pipeline = bundles[String(param(run.spec.pipelineRef?.params, "bundle"))];
    if (!pipeline) return this.#fail("CouldntGetPipeline", "could not find object in image");
    const missing = (pipeline.params ?? []).filter((name) => param(run.spec.params, name) === undefined);
    if (missing.length > 0)
      return this.#fail("ParameterMissing", `pipelineRun missing parameters: [${missing.join(" ")}]`);

    const timeUp = new AbortController();
    const timer = clock.after(parseDuration(run.spec.timeouts?.pipeline ?? "1h") ?? 0, () => timeUp.abort("timeout"));
    try {
      await this.#runTasks(pipeline, AbortSignal.any([this.#signal, timeUp.signal]));
    } finally {
      timer.cancel();
    }
  }

  async #runTasks({ tasks }: BundledPipeline, signal: AbortSignal) {
    const pipelineSpec = { tasks: tasks.map(({ name }) => ({ name })) };
    const { clock } = this.#caches;
    for (const [done, task] of tasks.entries()) {
      const name = `${this.#caches.run.metadata.name}-${task.name}`;
      this.#children.push({ apiVersion: taskRuns.apiVersion, kind: "TaskRun", name, pipelineTaskName: task.name });
      const message = `Tasks Completed: ${done} (Failed: 0, Cancelled 0), Incomplete: ${tasks.length - done}, Skipped: 0`;
      await this.#write({ pipelineSpec, conditions: [succeeded(clock, "Unknown", "Running", message)] });
      const end = await this.#runTask(task, name, signal);
      if (end === "stopped") return;
      if (end === "failed") {
        return this.#fail(
          "Failed",
          `Tasks Completed: ${done + 1} (Failed: 1, Cancelled 0), Skipped: ${tasks.length - done - 1}`,
        );
      }
    }
    const message = `Tasks Completed: ${tasks.length} (Failed: 0, Cancelled 0), Skipped: 0`;
    await this.#write({
      completionTime: timeText(clock),
      conditions: [succeeded(clock, "True", "Succeeded", message)],
    });
  }

  async #runTask(task: BundledTask, name: string, signal: AbortSignal): Promise<"succeeded" | "failed" | "stopped"> {
    const { client, run } = this.#caches;
    // Tekton takes a TaskRun of that name for its own, whatever created it: one that outlived an earlier run lends its end.
    const found = await client.get(taskRuns, { namespace: run.metadata.namespace ?? "", name });
    const end = succeededCondition(found?.status)?.status;
    if (end === "True" || end === "False") return end === "True" ? "succeeded" : "failed";

    const activity = await TaskActivity.begin(this.#caches, task, name);
    const obstacle = task.steps.find(({ does }) => !begins(does));
    if (obstacle) {
      await activity.neverBegins(obstacle);
      return "failed";
    }
    for (const step of task.steps) {
      const env = environment(this.#caches.run);
      const ending = perform(step.does, { env, clock: this.#caches.clock, signal });
      const stopped = new Promise<"stopped">((resolve) =>
        signal.addEventListener("abort", () => resolve("stopped"), { once: true }),
      );
      const first = signal.aborted ? "stopped" : await Promise.race([ending, stopped]);
      if (first === "stopped" || signal.aborted) {
        await this.#stopped(activity, signal.reason as string);
        // As with the real one, the run is over before its pod is.
        await ending;
        await activity.removePod();
        return "stopped";
      }
      if (!(await activity.stepEnded(step, first))) return "failed";
    }
    await activity.succeed();
    return "succeeded";
  }

  async #stopped(activity: TaskActivity, why: string) {
    if (why === "gone") return;
    const { run, clock } = this.#caches;
    await activity.cancelled(why === "timeout" ? "has timed out." : "has been cancelled.");
    if (why === "cancelled") return await this.#write(cancelled(run, clock));
    const limit = run.spec.timeouts?.pipeline;
    await this.#fail("PipelineRunTimeout", `PipelineRun "${run.metadata.name}" failed to finish within "${limit}"`);
  }

  async #fail(reason: string, message: string) {
    const { clock } = this.#caches;
    await this.#write({ completionTime: timeText(clock), conditions: [succeeded(clock, "False", reason, message)] });
  }

  async #write(status: object) {
    const { client, run } = this.#caches;
    const children = this.#children.length > 0 ? { childReferences: this.#children } : {};
    await writeStatus(client, pipelineRuns, run, { startTime: this.#startTime, ...children, ...status });
  }
}

/** One TaskRun with its pod. */
class TaskActivity {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #task: BundledTask;
  readonly #taskRun: TaskRun;
  readonly #pod: Pod;
  readonly #steps: StepState[];

  private constructor({ client, clock }: TektonCaches, task: BundledTask, made: { taskRun: TaskRun; pod: Pod }) {
    this.#client = client;
    this.#clock = clock;
    this.#task = task;
    this.#taskRun = made.taskRun;
    this.#pod = made.pod;
    this.#steps = task.steps.map(({ name }) => ({
      name,
      container: `step-${name}`,
      running: { startedAt: timeText(clock) },
    }));
  }

  static async begin(caches: TektonCaches, task: BundledTask, name: string): Promise<TaskActivity> {
    const { client, clock, run } = caches;
    const { namespace = "", uid = "", name: owner = "" } = run.metadata;
    const labels = { [tektonLabels.pipelineRunUid]: uid, [tektonLabels.pipelineTask]: task.name };
    const reference = {
      apiVersion: "tekton.dev/v1",
      kind: "PipelineRun",
      name: owner,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const metadata = { name, namespace, labels, ownerReferences: [reference] };
    const serviceAccountName = run.spec.taskRunTemplate?.serviceAccountName ?? "default";
    const taskRun = made(await client.create(taskRuns, { metadata, spec: { serviceAccountName } }));
    const pod = made(await client.create(pods, { metadata: { ...metadata, name: `${name}-pod` } } as Pod));
    const activity = new TaskActivity(caches, task, { taskRun, pod });
    const neverBegins = task.steps.some(({ does }) => !begins(does));
    if (!neverBegins) {
      await writeStatus(client, pods, pod, { phase: "Running" });
      for (const step of activity.#steps) Object.assign(step, { imageID: imageId });
      await activity.#write({ startTime: timeText(clock), conditions: [succeeded(clock, "Unknown", "Running", "")] });
    }
    return activity;
  }

  async stepEnded({ name, does }: BundledTask["steps"][number], { exitCode, reason }: Ending): Promise<boolean> {
    const place = this.#task.steps.findIndex((step) => step.name === name);
    const terminated = { containerID: "containerd://1", exitCode, reason, finishedAt: timeText(this.#clock) };
    // The entrypoint of an evicted pod has no time to write down how its step ended.
    this.#steps[place] = {
      name,
      imageID: imageId,
      terminated,
      ...(does.do !== "evict" && { terminationReason: reason }),
    };
    if (exitCode === 0) {
      await this.#write({});
      return true;
    }
    for (const [later, step] of this.#steps.entries()) {
      if (later > place) this.#steps[later] = { ...skipped(step) };
    }
    const evicted = { reason: "Evicted", message: "The node was low on resource: memory." };
    await writeStatus(this.#client, pods, this.#pod, { phase: "Failed", ...(does.do === "evict" && evicted) });
    await this.#end(
      "False",
      "Failed",
      does.do === "evict" ? evicted.message : `"step-${name}" exited with code ${exitCode}`,
    );
    return false;
  }

  async succeed() {
    await writeStatus(this.#client, pods, this.#pod, { phase: "Succeeded" });
    await this.#end("True", "Succeeded", "All Steps have completed executing");
  }

  async neverBegins({ name, does }: BundledTask["steps"][number]) {
    const noImage = does.do === "no-image";
    const reason = noImage ? "TaskRunImagePullFailed" : "CreateContainerConfigError";
    for (const [place, step] of this.#steps.entries()) {
      const waiting = { waiting: { reason, message: 'secret "missing" not found' } };
      this.#steps[place] = { name: step.name, ...(noImage ? { terminated: { exitCode: 1, reason } } : waiting) };
    }
    const message = noImage
      ? `the step "${name}" failed to pull the image`
      : "Failed to create pod due to config error";
    await this.#end("False", reason, message);
    await this.removePod();
  }

  async cancelled(why: string) {
    const message = `TaskRun cancelled as the PipelineRun it belongs to ${why}`;
    const merge = {
      metadata: { uid: this.#taskRun.metadata.uid },
      spec: { status: "TaskRunCancelled", statusMessage: message },
    };
    await this.#client.patch(taskRuns, refOf(this.#taskRun), { merge });
    for (const [place, step] of this.#steps.entries()) {
      if (step.running)
        this.#steps[place] = {
          name: step.name,
          imageID: imageId,
          terminated: { exitCode: 1, reason: "TaskRunCancelled" },
        };
    }
    await this.#end("False", "TaskRunCancelled", `TaskRun "${this.#taskRun.metadata.name}" was cancelled. ${message}`);
  }

  async removePod() {
    await this.#client.delete(pods, refOf(this.#pod), { preconditions: { uid: this.#pod.metadata.uid ?? "" } });
  }

  #end(status: "True" | "False", reason: string, message: string) {
    return this.#write({
      completionTime: timeText(this.#clock),
      conditions: [succeeded(this.#clock, status, reason, message)],
    });
  }

  async #write(status: object) {
    const podName = this.#pod.metadata.name;
    await writeStatus(this.#client, taskRuns, this.#taskRun, { podName, steps: this.#steps, ...status });
  }
}

const imageId = "registry.invalid/tools@sha256:943722336a648a1972bfb02a115bb85d6ac338c930648c7a594d5c88e4e86538";

function skipped({ name }: StepState): StepState {
  return {
    name,
    imageID: imageId,
    terminated: { containerID: "containerd://2", exitCode: 1, reason: "Error" },
    terminationReason: "Skipped",
  };
}

function cancelled(run: PipelineRun, clock: Clock) {
  const message = `PipelineRun "${run.metadata.name}" was cancelled`;
  const startTime = run.status?.startTime ?? timeText(clock);
  return { startTime, completionTime: timeText(clock), conditions: [succeeded(clock, "False", "Cancelled", message)] };
}

function succeeded(clock: Clock, status: "True" | "False" | "Unknown", reason: string, message: string) {
  return { type: "Succeeded", status, reason, message, lastTransitionTime: timeText(clock) };
}

function environment({ spec }: PipelineRun): Record<string, string> {
  const entries = (spec.params ?? []).map(({ name, value }) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(entries);
}

function made<T>(outcome: { kind: "created"; object: T } | { kind: "already-exists" }): T {
  if (outcome.kind === "already-exists") throw new Error("a TaskRun or pod of this name is already there");
  return outcome.object;
}

function refOf({ metadata: { namespace = "", name = "" } }: KubeObject) {
  return { namespace, name };
}
