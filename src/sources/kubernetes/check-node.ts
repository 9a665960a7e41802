import { type KubeClient, KubeError, type KubeObject, type ResourceType } from "../../kube/index.ts";
import type { Signal } from "../../resources/index.ts";

interface ScheduledPod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

const pods: ResourceType<ScheduledPod> = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/**
 * Returns the signal of a watched Event without the label `node`, unless its object is this node, or a Pod on it. A user who may create
 * Events in one namespace writes any host into them, and a rule may act on `labels.node`.
 */
export async function checkNode(signal: Signal, client: Pick<KubeClient, "get">): Promise<Signal> {
  const { node, ...labels } = signal.labels;
  if (node === undefined || (await findNode(signal, client)) === node) return signal;
  return { ...signal, labels };
}

/** The node that an object is, or that a Pod runs on; undefined if it is unknown, or if Pods may not be read. */
async function findNode({ subject }: Signal, client: Pick<KubeClient, "get">): Promise<string | undefined> {
  if (!subject || (subject.apiVersion ?? "v1") !== "v1") return undefined;
  const { kind, namespace, name } = subject;
  if (kind === "Node") return name;
  if (kind !== "Pod" || namespace === undefined) return undefined;
  try {
    return (await client.get(pods, { namespace, name }))?.spec?.nodeName;
  } catch (error) {
    if (error instanceof KubeError && (error.code === "forbidden" || error.code === "invalid")) return undefined;
    throw error;
  }
}
