import { expect } from "vitest";
import type { KubeClient, KubeObject, OwnerReference, ResourceType } from "../../src/kube/index.ts";
import { writeStatus } from "../doubles/run-controller.ts";
import { until } from "../executor/processes/until.ts";
import type { Issue } from "./gitlab-issues-double.ts";
import { brokenImage, types } from "./workload-controllers.ts";

/** What a scenario happens in. */
export interface ScenarioWorld {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly gitlab: {
    readonly url: string;
    readonly token: string;
    readonly issues: readonly Issue[];
  };
}

/** A problem, the action that solves it, and how to see that it did so exactly once. */
export interface Scenario {
  readonly action: string;
  readonly target: (namespace: string) => string;
  readonly parameters?: Readonly<Record<string, string>>;
  prepare(world: ScenarioWorld): Promise<void>;
  check(world: ScenarioWorld): Promise<void>;
  /** The last write that must have happened: `update deployments`. */
  readonly writes: readonly string[];
  /** It needs nodes, or pods that run nowhere: not for a cluster that has its own. */
  readonly needsOwnNodes?: true;
  /** The issue tracker has no fence. */
  readonly hasNoFence?: true;
}

export const scenarios: readonly Scenario[] = [
  {
    action: "restart-rollout",
    target: (namespace) => `${namespace}/deployment/web`,
    prepare: (world) => make(world, types.deployments, deployment("web")),
    check: async (world) => {
      const { spec } = await read(world, types.deployments, "web");
      expect(spec.template.metadata.annotations).toHaveProperty("kubectl.kubernetes.io/restartedAt");
      const { items } = await world.client.list(types.replicaSets, { namespace: world.namespace });
      expect(items).toHaveLength(2);
    },
    writes: ["update deployments"],
  },
  {
    action: "roll-back-rollout",
    target: (namespace) => `${namespace}/deployment/web`,
    async prepare(world) {
      await make(world, types.deployments, deployment("web"));
      await settled(world, "1");
      const template = deployment("web", brokenImage).spec.template;
      await world.client.patch(types.deployments, at(world, "web"), { merge: { spec: { template } } });
      await settled(world, "2");
    },
    check: async (world) => {
      const { spec, metadata } = await read(world, types.deployments, "web");
      expect(spec.template.spec.containers[0].image).toBe(image);
      expect(metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
    },
    writes: ["update deployments"],
  },
  {
    action: "scale",
    target: (namespace) => `${namespace}/statefulset/db`,
    parameters: { by: "5", max: "4" },
    prepare: (world) => make(world, types.statefulSets, deployment("db")),
    check: async (world) => {
      expect((await read(world, types.statefulSets, "db")).spec.replicas).toBe(4);
    },
    writes: ["update statefulsets"],
    needsOwnNodes: true,
  },
  {
    action: "scale",
    target: (namespace) => `${namespace}/horizontalpodautoscaler/web`,
    parameters: { by: "2" },
    prepare: (world) => make(world, types.autoscalers, autoscaler("web", "web")),
    check: async (world) => {
      expect((await read(world, types.autoscalers, "web")).spec.maxReplicas).toBe(7);
    },
    writes: ["update horizontalpodautoscalers"],
  },
  {
    action: "delete-stuck-pod",
    target: (namespace) => `${namespace}/pod/web-1`,
    prepare: (world) => makePod(world, pod("web-1", { ready: false })),
    check: async (world) => {
      expect(await world.client.get(types.pods, at(world, "web-1"))).toBeUndefined();
    },
    writes: ["evict pods"],
    needsOwnNodes: true,
  },
  {
    action: "cordon-node",
    target: () => "node/worker-1",
    prepare: makeNode,
    check: async ({ client }) => {
      expect((await client.get(types.nodes, { name: "worker-1" }))?.spec).toMatchObject({ unschedulable: true });
    },
    writes: ["update nodes"],
    needsOwnNodes: true,
  },
  {
    action: "drain-node",
    target: () => "node/worker-1",
    async prepare(world) {
      await makeNode(world);
      for (const name of ["web-1", "web-2"]) await makePod(world, pod(name));
      await makePod(world, pod("log-1", { owner: "DaemonSet" }));
    },
    check: async ({ client }) => {
      const { items } = await client.list(types.pods, { fieldSelector: "spec.nodeName=worker-1" });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(["log-1"]);
      expect((await client.get(types.nodes, { name: "worker-1" }))?.spec).toMatchObject({ unschedulable: true });
    },
    writes: ["update nodes", "evict pods", "evict pods"],
    needsOwnNodes: true,
  },
  {
    action: "uncordon-node",
    target: () => "node/worker-1",
    async prepare(world) {
      await makeNode(world);
      const metadata = { annotations: { "kubernaut.ai/cordoned-by": "an-earlier-execution" } };
      const patch = { merge: { metadata, spec: { unschedulable: true } } };
      await world.client.patch(types.nodes, { name: "worker-1" }, patch);
    },
    check: async ({ client }) => {
      const node = await client.get(types.nodes, { name: "worker-1" });
      expect(node?.spec.unschedulable).not.toBe(true);
      expect(node?.metadata.annotations).not.toHaveProperty("kubernaut.ai/cordoned-by");
    },
    writes: ["update nodes"],
    needsOwnNodes: true,
  },
  {
    action: "clean-node-disk",
    target: () => "node/worker-1",
    parameters: { minMinutes: "0" },
    async prepare(world) {
      await makeNode(world);
      await makePod(world, pod("done-1", { phase: "Succeeded" }));
      await makePod(world, pod("done-2", { phase: "Failed" }));
      await makePod(world, pod("web-1"));
    },
    check: async (world) => {
      const { items } = await world.client.list(types.pods, { namespace: world.namespace });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(["web-1"]);
    },
    writes: ["delete pods", "delete pods"],
    needsOwnNodes: true,
  },
  {
    action: "expand-volume-claim",
    target: (namespace) => `${namespace}/persistentvolumeclaim/data`,
    async prepare(world) {
      const fast = { metadata: { name: `fast-${world.namespace}` }, provisioner: "example.com/disk" };
      await world.client.create(types.storageClasses, { ...fast, allowVolumeExpansion: true } as KubeObject);
      await make(world, types.claims, claim("data", fast.metadata.name));
      await until(
        "the claim is bound",
        async () => (await read(world, types.claims, "data")).status?.phase === "Bound",
      );
    },
    check: async (world) => {
      expect((await read(world, types.claims, "data")).status.capacity.storage).toBe("12Gi");
    },
    writes: ["update persistentvolumeclaims"],
    needsOwnNodes: true,
  },
  {
    action: "restart-job",
    target: (namespace) => `${namespace}/job/report`,
    async prepare(world) {
      await make(world, types.jobs, job("report"));
      await writeStatus(world.client, types.jobs, await read(world, types.jobs, "report"), {
        conditions: [{ type: "Failed", status: "True", lastTransitionTime: "2026-11-15T12:00:00Z" }],
      });
    },
    check: async (world) => {
      const { items } = await world.client.list(types.jobs, { namespace: world.namespace });
      expect(items.map(({ status }) => status.conditions[0].type)).toEqual(["Complete"]);
      expect(items[0]?.spec.template.metadata.labels).toEqual({ app: "report" });
    },
    writes: ["create jobs", "delete jobs"],
    needsOwnNodes: true,
  },
  {
    action: "restart-job",
    target: (namespace) => `${namespace}/cronjob/nightly`,
    prepare: (world) => make(world, types.cronJobs, cronJob("nightly")),
    check: async (world) => {
      const { items } = await world.client.list(types.jobs, { namespace: world.namespace });
      expect(items.map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).toEqual(["CronJob"]);
    },
    writes: ["create jobs"],
    needsOwnNodes: true,
  },
  {
    action: "open-issue",
    target: (namespace) => `namespace/${namespace}`,
    parameters: { project: "group/ops", title: "the quota is used up", description: "/close\n```\n/assign @root" },
    async prepare({ client, gitlab }) {
      const base64 = (text: string) => Buffer.from(text).toString("base64");
      const data = { url: base64(gitlab.url), token: base64(gitlab.token) };
      const metadata = { namespace: "kubernaut-workflows", name: "interlock-action-gitlab" };
      await client.create(types.secrets, { metadata, data } as KubeObject);
    },
    check: async ({ gitlab }) => {
      expect(gitlab.issues.map(({ title }) => title)).toEqual(["the quota is used up"]);
    },
    writes: [],
    needsOwnNodes: true,
    hasNoFence: true,
  },
];

const image = "registry.invalid/works";

function deployment(name: string, uses = image) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: uses }] } };
  return { metadata: { name }, spec: { replicas: 2, serviceName: name, selector: { matchLabels: labels }, template } };
}

export function autoscaler(name: string, scales: string) {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: scales };
  return { metadata: { name }, spec: { minReplicas: 1, maxReplicas: 5, scaleTargetRef } };
}

function job(name: string) {
  const own = { "batch.kubernetes.io/job-name": name, "controller-uid": "1" };
  const labels = { app: name, ...own };
  const containers = [{ name: "main", image }];
  const template = { metadata: { labels }, spec: { restartPolicy: "Never", containers } };
  return { metadata: { name, labels }, spec: { backoffLimit: 0, selector: { matchLabels: own }, template } };
}

function cronJob(name: string) {
  const template = { metadata: { labels: { app: name } }, spec: { restartPolicy: "Never", containers: [{ image }] } };
  return { metadata: { name }, spec: { schedule: "0 3 * * *", jobTemplate: { spec: { template } } } };
}

function claim(name: string, storageClassName: string) {
  const resources = { requests: { storage: "10Gi" } };
  return { metadata: { name }, spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources } };
}

interface PodOptions {
  readonly ready?: boolean;
  readonly owner?: "ReplicaSet" | "DaemonSet" | "none";
  readonly phase?: string;
}

/** A pod on worker-1 that has been as it is for a day. Without an owner nothing replaces it. */
export function pod(name: string, { ready = true, phase = "Running", owner = "ReplicaSet" }: PodOptions = {}) {
  const lastTransitionTime = new Date(Date.now() - 24 * 3_600_000).toISOString();
  return {
    owner,
    object: {
      metadata: { name, labels: { app: "web" } },
      spec: { nodeName: "worker-1", containers: [{ name: "main", image }] },
    },
    status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime }] },
  };
}

export async function makePod(world: ScenarioWorld, { owner, object, status }: ReturnType<typeof pod>): Promise<void> {
  const ownerReferences = owner === "none" ? [] : [await makeOwner(world, owner)];
  const metadata = { ...object.metadata, ownerReferences };
  await make(world, types.pods, { ...object, metadata } as KubeObject);
  await writeStatus(world.client, types.pods, await read(world, types.pods, object.metadata.name), status);
}

/** An owner that does not exist would have its pods collected as garbage. */
async function makeOwner(world: ScenarioWorld, kind: "ReplicaSet" | "DaemonSet"): Promise<OwnerReference> {
  const type = kind === "ReplicaSet" ? types.replicaSets : types.daemonSets;
  await world.client.create(type, { ...deployment("owner"), metadata: { namespace: world.namespace, name: "owner" } });
  const { uid = "" } = (await read(world, type, "owner")).metadata;
  return { apiVersion: type.apiVersion, kind, name: "owner", uid, controller: true };
}

export async function makeNode({ client }: ScenarioWorld): Promise<void> {
  await client.create(types.nodes, { metadata: { name: "worker-1" } });
}

export async function make(world: ScenarioWorld, type: ResourceType, object: KubeObject): Promise<void> {
  const metadata = { ...object.metadata, namespace: world.namespace };
  const { kind } = await world.client.create(type, { ...object, metadata });
  expect(kind).toBe("created");
}

function at({ namespace }: ScenarioWorld, name: string) {
  return { namespace, name };
}

export async function read<T extends KubeObject>(
  world: ScenarioWorld,
  type: ResourceType<T>,
  name: string,
): Promise<T> {
  const found = await world.client.get(type, at(world, name));
  if (!found) throw new Error(`${type.kind} ${name} does not exist`);
  return found;
}

/** The controller has given the Deployment its revision, and has seen the latest change. */
async function settled(world: ScenarioWorld, revision: string): Promise<void> {
  await until(`revision ${revision}`, async () => {
    const { metadata, status } = await read(world, types.deployments, "web");
    const isSeen = status?.observedGeneration === metadata.generation;
    return isSeen && metadata.annotations?.["deployment.kubernetes.io/revision"] === revision;
  });
}
