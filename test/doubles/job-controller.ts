import { type Job, type JobCondition, jobs, jobUidLabel } from "../../src/engines/job/job.ts";
import { type Pod, pods } from "../../src/engines/pods.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import type { Clock } from "../../src/time/index.ts";
import { type Behaviour, begins, type Ending, perform } from "./behaviour.ts";
import {
  type Activities,
  type DoubleOptions,
  type RunningDouble,
  runDouble,
  timeText,
  writeStatus,
} from "./run-controller.ts";

export interface JobOptions extends DoubleOptions {
  /** By image. Any other image cannot be pulled. */
  readonly images: Readonly<Record<string, Behaviour>>;
  /** Runs the whole pod of a Job instead, and returns how it ended. Resolves only when nothing of it is left. */
  readonly runPod?: (job: Job, signal: AbortSignal) => Promise<Ending>;
}

/** Acts on Jobs of one pod as the Job controller of Kubernetes 1.32 was recorded to, and on the pod as a kubelet does. */
export function jobController(options: JobOptions): RunningDouble {
  const { client, clock, images, runPod } = options;
  return runDouble<Job>(
    { type: jobs, look: (job, activities) => look({ client, clock, images, runPod, job, activities }) },
    options,
  );
}

interface JobCaches {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly images: JobOptions["images"];
  readonly runPod: JobOptions["runPod"];
  readonly job: Job;
  readonly activities: Activities;
}

async function look(caches: JobCaches): Promise<number | undefined> {
  const { client, clock, job, activities } = caches;
  const end = job.status?.conditions?.find(({ type }) => type === "Complete" || type === "Failed");
  if (end) return await removeWhenOld(caches, end);

  const activity = activities.of(job);
  if (job.spec.suspend) {
    if (activity) activity.stop.abort("suspended");
    else if (!job.status?.conditions?.some(({ type }) => type === "Suspended")) {
      const conditions = [condition(clock, "Suspended", "JobSuspended", "Job suspended")];
      await writeStatus(client, jobs, job, { ready: 0, terminating: 0, conditions });
    }
    return undefined;
  }
  if (!activity) activities.begin(job, (signal) => new JobActivity(caches, signal).run());
  return deadline(caches);
}

/** The Job's own deadline, which may have been moved meanwhile: it counts from the start. */
function deadline({ clock, job, activities }: JobCaches): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  if (activeDeadlineSeconds === undefined) return undefined;
  // Not started as far as we know: that write wakes us again.
  if (!job.status?.startTime) return undefined;
  const leftMs = Date.parse(job.status.startTime) + activeDeadlineSeconds * 1_000 - clock.wallMs();
  if (leftMs > 0) return leftMs;
  activities.of(job)?.stop.abort("deadline");
  return undefined;
}

async function removeWhenOld({ client, clock, job }: JobCaches, { lastTransitionTime }: JobCondition) {
  const { ttlSecondsAfterFinished } = job.spec;
  if (ttlSecondsAfterFinished === undefined) return undefined;
  const leftMs = Date.parse(lastTransitionTime) + ttlSecondsAfterFinished * 1_000 - clock.wallMs();
  if (leftMs > 0) return leftMs;
  const { namespace = "", name = "", uid = "" } = job.metadata;
  await client.delete(jobs, { namespace, name }, { preconditions: { uid }, propagation: "Foreground" });
  return undefined;
}

/** One Job from its start to its end. */
class JobActivity {
  readonly #caches: JobCaches;
  readonly #signal: AbortSignal;

  constructor(caches: JobCaches, signal: AbortSignal) {
    this.#caches = caches;
    this.#signal = signal;
  }

  async run() {
    const { client, clock, images, runPod, job } = this.#caches;
    const template = job.spec.template.spec;
    const own = images[template.containers[0]?.image ?? ""];
    const does = own ?? (runPod ? ({ do: "exit" } as const) : ({ do: "no-image" } as const));
    const resumed = { ...condition(clock, "Suspended", "JobResumed", "Job resumed"), status: "False" };
    await writeStatus(client, jobs, job, { startTime: timeText(clock), active: 1, ready: 0, conditions: [resumed] });
    const pod = await this.#makePod(does);

    const timeUp = new AbortController();
    const timer = clock.after(template.activeDeadlineSeconds * 1_000, () => timeUp.abort("pod-deadline"));
    const signal = AbortSignal.any([this.#signal, timeUp.signal]);
    const report = () => void this.#reportStop(String(signal.reason)).catch(() => {});
    if (signal.aborted) report();
    else signal.addEventListener("abort", report, { once: true });
    const ending = await (runPod && !own
      ? runPod(job, signal)
      : perform(does, { env: environment(job), clock, signal }));
    timer.cancel();
    await this.#ended(pod, does, ending, signal.aborted ? String(signal.reason) : undefined);
  }

  async #makePod(does: Behaviour): Promise<Pod> {
    const { client, job } = this.#caches;
    const { namespace = "", name = "", uid = "" } = job.metadata;
    const reference = {
      apiVersion: jobs.apiVersion,
      kind: jobs.kind,
      name,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const metadata = {
      namespace,
      name: `${name}-${uid.slice(0, 5)}`,
      labels: { [jobUidLabel]: uid },
      ownerReferences: [reference],
    };
    const made = await client.create(pods, { metadata } as Pod);
    if (made.kind !== "created") throw new Error(`the pod ${metadata.name} is already there`);
    const waiting = { reason: does.do === "no-image" ? "ImagePullBackOff" : "CreateContainerConfigError" };
    const status = begins(does)
      ? { phase: "Running", containerStatuses: [{ ...container, ...created, state: { running: {} } }] }
      : { phase: "Pending", containerStatuses: [{ ...container, imageID: "", state: { waiting } }] };
    await writeStatus(client, pods, made.object, status);
    return made.object;
  }

  /** The controller writes that it wants an end before there is one. */
  async #reportStop(why: string) {
    const { client, clock, job } = this.#caches;
    if (why === "deadline") {
      const target = condition(
        clock,
        "FailureTarget",
        "DeadlineExceeded",
        "Job was active longer than specified deadline",
      );
      await writeStatus(client, jobs, job, { active: 0, terminating: 1, conditions: [target] });
    }
    if (why === "suspended") {
      const conditions = [condition(clock, "Suspended", "JobSuspended", "Job suspended")];
      await writeStatus(client, jobs, job, { active: 0, terminating: 1, conditions });
    }
  }

  async #ended(pod: Pod, does: Behaviour, ending: Ending, stopped?: string) {
    const { exitCode, reason, initContainerStatuses } = ending;
    const { client, clock, job } = this.#caches;
    const idle = { active: 0, ready: 0, terminating: 0 };
    if (stopped === "gone") return;
    if (stopped === "suspended" || stopped === "deadline") {
      await client.delete(pods, { namespace: pod.metadata.namespace ?? "", name: pod.metadata.name ?? "" });
      if (stopped === "suspended") return void (await writeStatus(client, jobs, job, idle));
      return await this.#fail("DeadlineExceeded", "Job was active longer than specified deadline");
    }
    const unknown = { exitCode: 137, reason: "ContainerStatusUnknown" };
    const terminated = begins(does) ? { exitCode, reason, containerID: created.containerID } : unknown;
    const containerStatuses = [
      {
        ...container,
        ...(begins(does) ? created : { imageID: "" }),
        state: { terminated, waiting: null, running: null },
      },
    ];
    const why =
      stopped === "pod-deadline"
        ? { reason: "DeadlineExceeded", message: "Pod was active on the node longer than the specified deadline" }
        : does.do === "evict"
          ? { reason: "Evicted" }
          : {};
    const phase = exitCode === 0 ? "Succeeded" : "Failed";
    await writeStatus(client, pods, pod, { phase, initContainerStatuses, containerStatuses, ...why });
    if (exitCode !== 0) return await this.#fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    const succeeded = ["CompletionsReached", "Reached expected number of succeeded pods"] as const;
    await writeStatus(client, jobs, job, {
      ...idle,
      succeeded: 1,
      completionTime: timeText(clock),
      conditions: [condition(clock, "SuccessCriteriaMet", ...succeeded), condition(clock, "Complete", ...succeeded)],
    });
  }

  async #fail(reason: string, message: string) {
    const { client, clock, job } = this.#caches;
    await writeStatus(client, jobs, job, {
      ...{ active: 0, ready: 0, terminating: 0, failed: 1 },
      conditions: [condition(clock, "FailureTarget", reason, message), condition(clock, "Failed", reason, message)],
    });
  }
}

const container = { name: "workflow" };
const created = { imageID: "registry.invalid/x@sha256:1", containerID: "containerd://1" };

function condition(clock: Clock, type: JobCondition["type"], reason: string, message: string) {
  return { type, status: "True", reason, message, lastTransitionTime: timeText(clock), lastProbeTime: timeText(clock) };
}

/** As the kubelet does it: two dollars are one, and `$(NAME)` would be a reference, which we never write. */
function environment({ spec }: Job): Record<string, string> {
  const variables = spec.template.spec.containers[0]?.env ?? [];
  return Object.fromEntries(variables.map(({ name, value }) => [name, value.replaceAll("$$", "$")]));
}
