import { expect } from "vitest";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import { writeStatus } from "../doubles/run-controller.ts";
import { until } from "../executor/processes/until.ts";
import type { Issue } from "./gitlab-issues-double.ts";
import { brokenImage, failsOnceImage, types } from "./workload-controllers.ts";

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
    target: (namespace) => `${namespace}/pod/web-0`,
    prepare: (world) => makePod(world, pod("web", { ready: false })),
    check: async (world) => {
      const replacement = await until("the pod is replaced", () => world.client.get(types.pods, at(world, "web-0")));
      expect(replacement.metadata.labels).not.toHaveProperty("stuck");
    },
    writes: ["evict pods"],
  },
  {
    action: "cordon-node",
    target: () => `node/${testNode}`,
    prepare: makeNode,
    check: async ({ client }) => {
      expect((await client.get(types.nodes, { name: testNode }))?.spec).toMatchObject({ unschedulable: true });
    },
    writes: ["update nodes"],
  },
  {
    action: "drain-node",
    target: () => `node/${testNode}`,
    async prepare(world) {
      await makeNode(world);
      for (const set of ["web", "api"]) await makePod(world, pod(set));
      await makePod(world, pod("log", { owner: "DaemonSet" }));
    },
    check: async ({ client, namespace }) => {
      const { items } = await client.list(types.pods, { namespace, fieldSelector: `spec.nodeName=${testNode}` });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(["log-0"]);
      expect((await client.get(types.nodes, { name: testNode }))?.spec).toMatchObject({ unschedulable: true });
    },
    writes: ["update nodes", "evict pods", "evict pods"],
  },
  {
    action: "uncordon-node",
    target: () => `node/${testNode}`,
    async prepare(world) {
      await makeNode(world);
      const metadata = { annotations: { "kubernaut.ai/cordoned-by": "an-earlier-execution" } };
      const patch = { merge: { metadata, spec: { unschedulable: true } } };
      await world.client.patch(types.nodes, { name: testNode }, patch);
    },
    check: async ({ client }) => {
      const node = await client.get(types.nodes, { name: testNode });
      expect(node?.spec.unschedulable).not.toBe(true);
      expect(node?.metadata.annotations).not.toHaveProperty("kubernaut.ai/cordoned-by");
    },
    writes: ["update nodes"],
  },
  {
    action: "clean-node-disk",
    target: () => `node/${testNode}`,
    parameters: { minMinutes: "0" },
    async prepare(world) {
      await makeNode(world);
      await makePod(world, pod("done", { phase: "Succeeded", owner: "none" }));
      await makePod(world, pod("failed", { phase: "Failed", owner: "none" }));
      await makePod(world, pod("web", { owner: "none" }));
    },
    check: async (world) => {
      const { items } = await world.client.list(types.pods, { namespace: world.namespace });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(["web-0"]);
    },
    writes: ["delete pods", "delete pods"],
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
  },
  {
    action: "restart-job",
    target: (namespace) => `${namespace}/job/report`,
    async prepare(world) {
      await make(world, types.jobs, job("report"));
      await until("the Job has failed", async () => (await jobOutcomes(world)).includes("Failed"));
    },
    check: async (world) => {
      await until("the failed Job is gone", async () => (await jobOutcomes(world)).join() === "Complete");
      const { items } = await world.client.list(types.jobs, { namespace: world.namespace });
      const { labels } = items[0]?.spec.template.metadata ?? {};
      expect(labels).toMatchObject({ app: "report" });
      expect(labels).not.toMatchObject({ "controller-uid": "1" });
    },
    writes: ["create jobs", "delete jobs"],
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
    hasNoFence: true,
  },
];

const image = "registry.invalid/works";

/** The node of the tests. No kubelet runs its pods. */
export const testNode = "interlock-test-node";

/** No scheduler has this name: a cluster of TEST_KUBECONFIG gives these pods no node, and pulls no image. */
export const schedulerName = "interlock-tests";

function deployment(name: string, uses = image) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { schedulerName, containers: [{ name: "main", image: uses }] } };
  return { metadata: { name }, spec: { replicas: 2, serviceName: name, selector: { matchLabels: labels }, template } };
}

export function autoscaler(name: string, scales: string) {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: scales };
  return { metadata: { name }, spec: { minReplicas: 1, maxReplicas: 5, scaleTargetRef } };
}

function job(name: string) {
  const own = { "batch.kubernetes.io/job-name": name, "controller-uid": "1" };
  const labels = { app: name, ...own };
  const containers = [{ name: "main", image: failsOnceImage }];
  const template = { metadata: { labels }, spec: { schedulerName, restartPolicy: "Never", containers } };
  const spec = { backoffLimit: 0, manualSelector: true, selector: { matchLabels: own }, template };
  return { metadata: { name, labels }, spec };
}

async function jobOutcomes({ client, namespace }: ScenarioWorld): Promise<readonly string[]> {
  const { items } = await client.list(types.jobs, { namespace });
  return items.map(({ status }) => {
    const conditions: readonly { readonly type: string; readonly status: string }[] = status?.conditions ?? [];
    const isFinal = ({ type }: { readonly type: string }) => type === "Complete" || type === "Failed";
    return conditions.find((one) => isFinal(one) && one.status === "True")?.type ?? "running";
  });
}

/** Its Jobs are removed as soon as they have ended. */
export function cronJob(name: string) {
  const containers = [{ name: "main", image }];
  const spec = { schedulerName, restartPolicy: "Never", containers };
  const template = { metadata: { labels: { app: name } }, spec };
  // Not due while a test runs.
  const jobTemplate = { spec: { ttlSecondsAfterFinished: 0, template } };
  return { metadata: { name }, spec: { schedule: "0 0 29 2 *", jobTemplate } };
}

function claim(name: string, storageClassName: string) {
  const resources = { requests: { storage: "10Gi" } };
  return { metadata: { name }, spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources } };
}

interface PodOptions {
  readonly ready?: boolean;
  readonly owner?: "StatefulSet" | "DaemonSet" | "none";
  readonly phase?: string;
}

/** The first pod of a set, on the node of the tests, which has been as it is for a day. Without an owner nothing replaces it. */
export function pod(set: string, { ready = true, phase = "Running", owner = "StatefulSet" }: PodOptions = {}) {
  const lastTransitionTime = new Date(Date.now() - 24 * 3_600_000).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    set,
    owner,
    labels: { app: "web", set, ...(!ready && { stuck: "true" }) },
    status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime }] },
  };
}

/** An owner that is created after its pod adopts it, as the controllers of Kubernetes do. */
export async function makePod(world: ScenarioWorld, { set, owner, labels, status }: ReturnType<typeof pod>) {
  await makeNode(world);
  const name = `${set}-0`;
  // Nothing ends the processes of the pod, and so nothing may wait for them.
  const spec = { nodeName: testNode, terminationGracePeriodSeconds: 0, containers: [{ name: "main", image }] };
  await make(world, types.pods, { metadata: { name, labels }, spec } as KubeObject);
  await writeStatus(world.client, types.pods, await read(world, types.pods, name), status);
  if (owner === "none") return;
  await make(world, owner === "StatefulSet" ? types.statefulSets : types.daemonSets, podOwner(set, owner));
  await until(`${name} is adopted`, async () => {
    return (await read(world, types.pods, name)).metadata.ownerReferences?.some(({ controller }) => controller);
  });
}

function podOwner(set: string, kind: "StatefulSet" | "DaemonSet"): KubeObject {
  const { spec } = deployment(set).spec.template;
  const selector = { matchLabels: { set } };
  const template = {
    metadata: { labels: { app: "web", set } },
    spec: { ...spec, tolerations: [{ operator: "Exists" }], ...(kind === "DaemonSet" && { nodeSelector: nodeLabels }) },
  };
  // With another strategy the controller would replace the pod, because it was not made from this template.
  const updateStrategy = { type: "OnDelete" };
  const sizes = kind === "StatefulSet" && { serviceName: set, replicas: 1 };
  return { metadata: { name: set }, spec: { ...sizes, updateStrategy, selector, template } } as KubeObject;
}

const nodeLabels = { "interlock.test/node": "own" };

export async function makeNode({ client }: ScenarioWorld): Promise<void> {
  await client.create(types.nodes, { metadata: { name: testNode, labels: nodeLabels } });
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
