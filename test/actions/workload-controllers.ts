import { isDeepStrictEqual } from "node:util";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import { refOf } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type RunningDouble, runDouble, timeText, writeStatus } from "../doubles/run-controller.ts";

/** An object whose fields a test controller reads freely. */
// biome-ignore lint/suspicious/noExplicitAny: the doubles act on parts of many kinds.
export type Loose = KubeObject & { readonly spec?: any; readonly status?: any };

export const types = {
  deployments: type("apps/v1", "Deployment", "deployments"),
  replicaSets: type("apps/v1", "ReplicaSet", "replicasets"),
  statefulSets: type("apps/v1", "StatefulSet", "statefulsets"),
  daemonSets: type("apps/v1", "DaemonSet", "daemonsets"),
  jobs: type("batch/v1", "Job", "jobs"),
  cronJobs: type("batch/v1", "CronJob", "cronjobs"),
  autoscalers: type("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
  claims: type("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
  budgets: type("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  pods: type("v1", "Pod", "pods"),
  nodes: { ...type("v1", "Node", "nodes"), namespaced: false },
  volumes: { ...type("v1", "PersistentVolume", "persistentvolumes"), namespaced: false },
  serviceAccounts: type("v1", "ServiceAccount", "serviceaccounts"),
  secrets: type("v1", "Secret", "secrets"),
  storageClasses: { ...type("storage.k8s.io/v1", "StorageClass", "storageclasses"), namespaced: false },
};

function type(apiVersion: string, kind: string, plural: string): ResourceType<Loose> {
  return { apiVersion, kind, plural, namespaced: true };
}

/** A pod template with this image never becomes available. */
export const brokenImage = "registry.invalid/broken";

/** A Job with this image fails, and a Job that an action created to repeat it completes. */
export const failsOnceImage = "registry.invalid/fails-once";

/** The controllers of Kubernetes that actions depend on, as far as they do, on any API server that has none. */
export function workloadControllers(client: KubeClient): RunningDouble {
  const options = { client, clock: systemClock(), random: systemRandom(), problem: () => {} };
  const look = (resource: ResourceType<Loose>, act: (object: Loose) => Promise<number | undefined>) =>
    runDouble<Loose>({ type: resource, look: (object) => act(object) }, options);
  const doubles = [
    look(types.deployments, (one) => rollOut(client, one)),
    look(types.statefulSets, (one) => keepFirstPod(client, one)),
    look(types.daemonSets, (one) => adoptPods(client, types.daemonSets, one)),
    look(types.jobs, (one) => finish(client, one)),
    look(types.claims, (one) => resize(client, one)),
    look(types.budgets, (one) => countHealthy(client, one)),
  ];
  return {
    async stop() {
      await Promise.all(doubles.map((double) => double.stop()));
    },
  };
}

/** Gives every template a ReplicaSet with a revision, as the Deployment controller does. */
async function rollOut(client: KubeClient, deployment: Loose): Promise<undefined> {
  const { namespace = "", name = "", uid = "" } = deployment.metadata;
  const { items } = await client.list(types.replicaSets, { namespace });
  const own = items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  const current = own.find(({ spec }) => isDeepStrictEqual(spec.template, deployment.spec.template));
  const latest = Math.max(0, ...own.map(revision));
  const next = current && revision(current) === latest ? latest : latest + 1;
  const annotations = { [revisionAnnotation]: String(next) };
  if (!current) {
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name, uid, controller: true };
    const metadata = { namespace, name: `${name}-${next}`, annotations, ownerReferences: [owner] };
    const { selector, template } = deployment.spec;
    await client.create(types.replicaSets, { metadata, spec: { selector, template } });
  } else if (revision(current) !== next) {
    await client.patch(types.replicaSets, refOf(current), { merge: { metadata: { annotations } } });
  }
  if (revision(deployment) !== next) {
    await client.patch(types.deployments, refOf(deployment), { merge: { metadata: { annotations } } });
  }
  return await report(client, types.deployments, deployment, deploymentStatus(deployment));
}

const revisionAnnotation = "deployment.kubernetes.io/revision";

function revision({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0);
}

function deploymentStatus({ spec }: Loose): object {
  const replicas = spec.replicas ?? 1;
  const broken = isBroken(spec.template);
  const available = broken ? 0 : replicas;
  const reason = broken ? "ProgressDeadlineExceeded" : "NewReplicaSetAvailable";
  const conditions = [{ type: "Progressing", status: broken ? "False" : "True", reason }];
  return { replicas, updatedReplicas: replicas, readyReplicas: available, availableReplicas: available, conditions };
}

function statefulStatus({ spec, metadata }: Loose): object {
  const replicas = spec.replicas ?? 1;
  const updateRevision = `revision-${metadata.generation}`;
  return {
    replicas,
    readyReplicas: replicas,
    updatedReplicas: replicas,
    updateRevision,
    currentRevision: updateRevision,
  };
}

/** Adopts the pods of a set, and replaces the first one when it is gone. The others never exist; they count as ready. */
async function keepFirstPod(client: KubeClient, set: Loose): Promise<number> {
  const { namespace = "", name } = set.metadata;
  await adoptPods(client, types.statefulSets, set);
  const { metadata, spec } = set.spec.template;
  await client.create(types.pods, { metadata: { ...metadata, namespace, name: `${name}-0` }, spec });
  await report(client, types.statefulSets, set, statefulStatus(set));
  return recountMs;
}

/** Owns the pods that its selector matches and that nothing owns. */
async function adoptPods(client: KubeClient, type: ResourceType<Loose>, owner: Loose): Promise<number> {
  const { namespace = "", name = "", uid = "" } = owner.metadata;
  const ownerReferences = [{ apiVersion: type.apiVersion, kind: type.kind, name, uid, controller: true }];
  for (const pod of await selectedPods(client, namespace, owner)) {
    if (pod.metadata.ownerReferences?.length) continue;
    await client.patch(types.pods, refOf(pod), { merge: { metadata: { ownerReferences } } });
  }
  return recountMs;
}

/** Owners and budgets get no events of their pods. */
const recountMs = 5;

async function selectedPods(client: KubeClient, namespace: string, { spec }: Loose): Promise<readonly Loose[]> {
  const wanted = Object.entries<string>(spec.selector.matchLabels);
  const { items } = await client.list(types.pods, { namespace });
  return items.filter(({ metadata }) => wanted.every(([name, value]) => metadata.labels?.[name] === value));
}

// biome-ignore lint/suspicious/noExplicitAny: part of a loose object.
export function isBroken(template: any): boolean {
  return template.spec.containers[0].image === brokenImage;
}

async function report(client: KubeClient, resource: ResourceType<Loose>, object: Loose, status: object) {
  const next = { ...status, observedGeneration: object.metadata.generation };
  if (!contains(object.status, next)) await writeStatus(client, resource, object, next);
  return undefined;
}

function contains(status: Record<string, unknown> | undefined, part: object): boolean {
  return Object.entries(part).every(([name, value]) => isDeepStrictEqual(status?.[name], value));
}

async function finish(client: KubeClient, job: Loose): Promise<undefined> {
  if (job.status?.conditions?.length) {
    if (job.spec.ttlSecondsAfterFinished === 0) await client.delete(types.jobs, refOf(job), {});
    return undefined;
  }
  const type = jobFails(job) ? "Failed" : "Complete";
  const conditions = [{ type, status: "True", lastTransitionTime: timeText(systemClock()) }];
  await writeStatus(client, types.jobs, job, { conditions });
  return undefined;
}

/** A repetition has the mark that kubectl gives to a Job that it starts by hand. */
export function jobFails({ metadata, spec }: Loose): boolean {
  const isRepetition = metadata.annotations?.["cronjob.kubernetes.io/instantiate"] === "manual";
  return spec.template.spec.containers[0].image === failsOnceImage && !isRepetition;
}

async function resize(client: KubeClient, claim: Loose): Promise<undefined> {
  const { storage } = claim.spec.resources.requests;
  if (claim.status?.capacity?.storage !== storage) {
    await writeStatus(client, types.claims, claim, { phase: "Bound", capacity: { storage } });
  }
  return undefined;
}

/** The disruption controller. */
async function countHealthy(client: KubeClient, budget: Loose): Promise<number> {
  const expected = await selectedPods(client, budget.metadata.namespace ?? "", budget);
  const healthy = expected.filter((pod) => isReady(pod)).length;
  const desired = budget.spec.minAvailable;
  const status = {
    ...{ expectedPods: expected.length, currentHealthy: healthy, desiredHealthy: desired },
    disruptionsAllowed: Math.max(0, healthy - desired),
    disruptedPods: {},
  };
  await report(client, types.budgets, budget, status);
  return recountMs;
}

function isReady({ metadata, status }: Loose): boolean {
  const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
  return !metadata.deletionTimestamp && conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
}
