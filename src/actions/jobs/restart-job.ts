import { type KubeObject, nameHash, type OwnerReference, type ResourceType } from "../../kube/index.ts";
import { labelKeys } from "../../resources/index.ts";
import { type ActionInputs, type Decision, defineAction, done, type Reader, refuse, wait, write } from "../action.ts";
import { actedBy, readTarget } from "../target-object.ts";

interface JobSpec {
  readonly selector?: object;
  readonly manualSelector?: boolean;
  readonly ttlSecondsAfterFinished?: number;
  readonly template: { readonly metadata?: KubeObject["metadata"] };
}

interface RepeatableJob extends KubeObject {
  readonly spec: JobSpec;
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface CronJob extends KubeObject {
  readonly spec: {
    readonly suspend?: boolean;
    readonly concurrencyPolicy?: string;
    readonly successfulJobsHistoryLimit?: number;
    readonly jobTemplate: { readonly metadata?: KubeObject["metadata"]; readonly spec: JobSpec };
  };
  readonly status?: { readonly active?: readonly object[] };
}

interface Snapshot {
  readonly target: RepeatableJob | CronJob | undefined;
  /** The Job that this execution has created. */
  readonly repeated: RepeatableJob | undefined;
}

const jobs: ResourceType<RepeatableJob> = { apiVersion: "batch/v1", kind: "Job", plural: "jobs", namespaced: true };

export const restartJob = defineAction<Snapshot>({
  name: "restart-job",
  version: "1.0.0",
  description: "Runs a failed Job again as a new Job and removes the failed one, or starts a CronJob now.",
  verification: "the new Job has completed, and the failed one is gone",
  targetKinds: ["job", "cronjob"],
  parameters: {
    keepFailed: { type: "boolean", default: false, description: "Do not remove the failed Job. Its alert stays, too." },
  },
  rights: [
    { group: "batch", resource: "jobs", verbs: ["get", "create"], where: "target" },
    { group: "batch", resource: "jobs", verbs: ["delete"], where: "target", onlyFor: "job" },
    { group: "batch", resource: "cronjobs", verbs: ["get"], where: "target", onlyFor: "cronjob" },
  ],
  alerts: ["KubeJobFailed"],
  cooldown: "30m",
  observe,
  decide,
});

async function observe({ target, executionUid }: ActionInputs, reader: Reader): Promise<Snapshot> {
  const { namespace = "" } = target;
  const [object, repeated] = await Promise.all([
    readTarget<RepeatableJob | CronJob>(target, reader),
    reader.get(jobs, { namespace, name: repeatedName(target.name, executionUid) }),
  ]);
  return { target: object, repeated };
}

/** The same for the same execution: a repeated run finds the Job that it has already created. */
function repeatedName(name: string, executionUid: string): string {
  return `${name.slice(0, 50).replace(/[^a-z0-9]+$/, "")}-${nameHash(executionUid).slice(0, 8)}`;
}

function decide({ target: object, repeated }: Snapshot, inputs: ActionInputs): Decision {
  const { target, executionUid, parameters } = inputs;
  if (repeated) {
    const name = `${target.namespace}/job/${repeated.metadata.name}`;
    if (repeated.metadata.annotations?.[actedBy] !== executionUid) return refuse(`${name} exists and is not ours`);
    if (hasCondition(repeated, "Failed")) return refuse(`${name}, which repeats ${target.text}, failed too`);
    if (!hasCondition(repeated, "Complete")) return wait(`${name} is running`);
    if (object && target.kind === "job" && parameters["keepFailed"] !== true) {
      return write({ do: "delete", type: jobs, observed: object, text: `remove the failed ${target.text}` });
    }
    return done(`${name} has completed`);
  }
  if (!object) return refuse(`${target.text} does not exist`);
  if (object.metadata.labels?.[labelKeys.workflowExecution] !== undefined) {
    return refuse(`${target.text} is a run of Interlock: its execution decides whether it is repeated`);
  }
  return isCronJob(object) ? startNow(object, inputs) : repeat(object, inputs);
}

function repeat(job: RepeatableJob, { target, executionUid }: ActionInputs): Decision {
  if (hasCondition(job, "Complete")) return done(`${target.text} has completed`);
  if (!hasCondition(job, "Failed")) return refuse(`${target.text} has not failed`);
  const { name = "", namespace = "", labels, ownerReferences } = job.metadata;
  const object = newJob({ name, namespace, labels, ownerReferences, executionUid }, job.spec);
  return write({ do: "create", type: jobs, object, text: `repeat ${target.text} as ${object.metadata.name}` });
}

function startNow(cronJob: CronJob, { target, executionUid }: ActionInputs): Decision {
  const { suspend, concurrencyPolicy, successfulJobsHistoryLimit, jobTemplate } = cronJob.spec;
  if (suspend) return refuse(`${target.text} is suspended`);
  if (successfulJobsHistoryLimit === 0) {
    return refuse(`${target.text} removes Jobs that have completed at once: set its successfulJobsHistoryLimit to 1`);
  }
  if (concurrencyPolicy === "Forbid" && (cronJob.status?.active?.length ?? 0) > 0) {
    return wait(`${target.text} has a running Job, and forbids a second one`);
  }
  const { name = "", namespace = "", uid = "" } = cronJob.metadata;
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name, uid, controller: true };
  const { labels } = jobTemplate.metadata ?? {};
  const object = newJob({ name, namespace, labels, ownerReferences: [owner], executionUid }, jobTemplate.spec);
  return write({ do: "create", type: jobs, object, text: `start ${target.text} as ${object.metadata.name}` });
}

interface NewJob {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly ownerReferences: readonly OwnerReference[] | undefined;
  readonly executionUid: string;
}

/** A Job with the same pods. The selector and the labels that the controller added belong to the old Job. */
function newJob({ name, namespace, labels, ownerReferences, executionUid }: NewJob, spec: JobSpec): RepeatableJob {
  const { selector: _, manualSelector: __, template, ttlSecondsAfterFinished: ttl, ...rest } = spec;
  const metadata = { ...template.metadata, labels: ownLabels(template.metadata?.labels) };
  return {
    metadata: {
      name: repeatedName(name, executionUid),
      namespace,
      labels: ownLabels(labels),
      annotations: { [actedBy]: executionUid, "cronjob.kubernetes.io/instantiate": "manual" },
      ...(ownerReferences && { ownerReferences }),
    },
    spec: {
      ...rest,
      ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: Math.max(ttl, minKeptSeconds) }),
      template: { ...template, metadata },
    },
  };
}

/** A Job that is removed before its end is observed would be created again. */
const minKeptSeconds = 3_600;

const controllerLabels: readonly string[] = [
  "controller-uid",
  "job-name",
  "batch.kubernetes.io/controller-uid",
  "batch.kubernetes.io/job-name",
];

function ownLabels(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !controllerLabels.includes(name)));
}

function isCronJob(object: RepeatableJob | CronJob): object is CronJob {
  return "jobTemplate" in object.spec;
}

function hasCondition({ status }: RepeatableJob, type: "Complete" | "Failed"): boolean {
  return status?.conditions?.some((one) => one.type === type && one.status === "True") ?? false;
}
