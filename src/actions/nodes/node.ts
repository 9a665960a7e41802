import type { KubeObject } from "../../kube/index.ts";
import type { ObjectTarget } from "../../resources/index.ts";
import type { ActionInputs, Reader, Write } from "../action.ts";
import { type ObservedPod, pods } from "../pods/pod.ts";
import { annotate, readTarget, updateTarget } from "../target-object.ts";

/** The fields of a Node that actions read and write. */
export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A node with its pods. */
export interface NodeSnapshot {
  readonly target: Node | undefined;
  readonly pods: readonly ObservedPod[];
}

export async function observeNode({ target }: ActionInputs, reader: Reader): Promise<NodeSnapshot> {
  const node = await readTarget<Node>(target, reader);
  if (!node) return { target: undefined, pods: [] };
  const { items } = await reader.list(pods, { fieldSelector: `spec.nodeName=${target.name}` });
  return { target: node, pods: items };
}

/** On a node that an action cordoned: uid of the execution. A node without it was cordoned by an operator. */
export const cordonedBy = "kubernaut.ai/cordoned-by";

/** Keeps new pods from the node. */
export function cordonWrite(node: Node, target: ObjectTarget, executionUid: string): Write {
  const next: Node = {
    ...node,
    metadata: annotate(node.metadata, { [cordonedBy]: executionUid }),
    spec: { ...node.spec, unschedulable: true },
  };
  return updateTarget(target, { observed: node, next, text: `cordon ${target.text}` });
}
