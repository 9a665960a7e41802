import type { KubeClient, ResourceType } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type RunningDouble, runDouble, timeText, writeStatus } from "../doubles/run-controller.ts";
import { schedulerName } from "./scenarios.ts";
import { isBroken, jobFails, type Loose, types } from "./workload-controllers.ts";

/**
 * What a node and a storage driver do for the objects of one namespace, on a cluster that has its own controllers: pods that no
 * scheduler takes become ready or end, and claims get a volume and grow.
 */
export function kubeletDouble(client: KubeClient, namespace: string): RunningDouble {
  const options = { client, namespace, clock: systemClock(), random: systemRandom(), problem: () => {} };
  const look = (type: ResourceType<Loose>, act: (client: KubeClient, object: Loose) => Promise<void>) =>
    runDouble<Loose>({ type, look: (object) => act(client, object).then(() => undefined) }, options);
  const doubles = [look(types.pods, runPod), look(types.claims, provision)];
  return {
    async stop() {
      await Promise.all(doubles.map((double) => double.stop()));
    },
  };
}

async function runPod(client: KubeClient, pod: Loose): Promise<void> {
  const isOurs = pod.spec.schedulerName === schedulerName && pod.status?.phase === "Pending";
  if (!isOurs || isBroken(pod)) return;
  const { namespace = "", ownerReferences = [] } = pod.metadata;
  const [owner] = ownerReferences;
  const job = owner?.kind === "Job" ? await client.get(types.jobs, { namespace, name: owner.name }) : undefined;
  await writeStatus(client, types.pods, pod, job ? { phase: jobFails(job) ? "Failed" : "Succeeded" } : running());
}

function running(): object {
  const lastTransitionTime = timeText(systemClock());
  return { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
}

async function provision(client: KubeClient, claim: Loose): Promise<void> {
  const { namespace = "", name = "", uid = "" } = claim.metadata;
  const { storageClassName, accessModes, resources } = claim.spec;
  const { storage } = resources.requests;
  const capacity = { storage };
  if (claim.status?.phase === "Bound") {
    if (claim.status.capacity.storage !== storage) await writeStatus(client, types.claims, claim, { capacity });
    return;
  }
  const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
  const csi = { driver: "example.com", volumeHandle: uid };
  const spec = { capacity, accessModes, storageClassName, claimRef, csi, persistentVolumeReclaimPolicy: "Retain" };
  await client.create(types.volumes, { metadata: { name: volumeName(namespace) }, spec });
}

/** The volume of the one claim that a namespace has. */
export function volumeName(namespace: string): string {
  return `interlock-volume-${namespace}`;
}
