import type { KubeObject, ObjectMeta } from "../kube/index.ts";
import {
  annotationKeys,
  type Engine,
  labelKeys,
  labelText,
  managedBy,
  maxImageDigests,
  type ParameterValue,
  type reservedParameters,
  type Workload,
} from "../resources/index.ts";
import type { RunOrder } from "./engine.ts";

/** Returns the metadata of a new run: its name, and the labels and annotations of its owner. */
export function runMetadata(order: RunOrder, engine: Engine): ObjectMeta {
  const { execution, workflow } = order;
  return {
    name: order.name,
    namespace: order.namespace,
    labels: {
      [managedBy.label]: managedBy.value,
      [labelKeys.engine]: engine,
      [labelKeys.targetHash]: order.targetHash,
      [labelKeys.workflowExecution]: labelText(execution.name),
      [labelKeys.sourceNamespace]: execution.namespace,
      [labelKeys.workflowId]: workflow.id,
    },
    annotations: {
      [annotationKeys.executionUid]: execution.uid,
      [annotationKeys.targetResource]: order.target,
      [annotationKeys.fence]: order.fence,
    },
  };
}

/** The owner of a run, by its annotations. A field is absent on a run that is not one of ours. */
export interface RunOwner {
  readonly executionUid?: string;
  /** In canonical form. The name of a run contains only a part of the target's hash, so two targets could share one. */
  readonly target?: string;
  readonly fence?: string;
}

/** Reads the annotations that determine the owner of a run. Labels are only for selectors and for display. */
export function runOwner({ metadata: { annotations = {} } }: KubeObject): RunOwner {
  const executionUid = annotations[annotationKeys.executionUid];
  const target = annotations[annotationKeys.targetResource];
  const fence = annotations[annotationKeys.fence];
  return { ...(executionUid && { executionUid }), ...(target && { target }), ...(fence && { fence }) };
}

/**
 * Returns the inputs of a workflow: its parameters, and three values with reserved names. A parameter with a reserved name is
 * replaced: only the execution determines the target of its run.
 */
export function runInputs(order: RunOrder): Record<string, ParameterValue> {
  const own: Record<(typeof reservedParameters)[number], string> = {
    TARGET_RESOURCE: order.target,
    EXECUTION_UID: order.execution.uid,
    FENCE: order.fence,
  };
  return { ...order.parameters, ...own };
}

/** Returns the workload of a run. If the image reference contains a digest, that is the digest of the image. */
export function workload(engine: Engine, image: string, serviceAccountName: string | undefined): Workload {
  return {
    engine,
    image,
    ...(isPinned(image) ? { imageDigests: [image] } : {}),
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
  };
}

/** Returns the digests among the image ids that a cluster reports, each once. */
export function digests(imageIds: readonly (string | undefined)[]): readonly string[] {
  const named = imageIds.filter((id): id is string => id !== undefined && isPinned(id));
  // Some runtimes add a prefix such as `docker-pullable://`.
  const plain = named.map((id) => id.replace(/^[a-z-]+:\/\//, ""));
  return [...new Set(plain)].sort().slice(0, maxImageDigests);
}

function isPinned(image: string): boolean {
  return /sha256:[0-9a-f]{64}$/.test(image);
}
