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

/** Metadata of a new run: its name, and the marks of its owner. */
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

/** The owner of a run, by its marks. A field is absent on a run that is not one of ours. */
export interface RunOwner {
  readonly executionUid?: string;
  /** In canonical form, and in clear: names of runs are cut, so two targets could share one. */
  readonly target?: string;
  readonly fence?: string;
}

/** Reads the marks by which a run is adopted. Labels are for people and selectors; ownership is decided by these. */
export function runOwner({ metadata: { annotations = {} } }: KubeObject): RunOwner {
  const executionUid = annotations[annotationKeys.executionUid];
  const target = annotations[annotationKeys.targetResource];
  const fence = annotations[annotationKeys.fence];
  return { ...(executionUid && { executionUid }), ...(target && { target }), ...(fence && { fence }) };
}

/**
 * The inputs of a workflow: its parameters, and three values under reserved names that every run has. A parameter with a
 * reserved name is replaced: only the execution determines the target of its run.
 */
export function runInputs(order: RunOrder): Record<string, ParameterValue> {
  const own: Record<(typeof reservedParameters)[number], string> = {
    TARGET_RESOURCE: order.target,
    EXECUTION_UID: order.execution.uid,
    FENCE: order.fence,
  };
  return { ...order.parameters, ...own };
}

/** What a run executes. A reference that names its digest needs no report of the cluster. */
export function workload(engine: Engine, image: string, serviceAccountName: string | undefined): Workload {
  return {
    engine,
    image,
    ...(isPinned(image) ? { imageDigests: [image] } : {}),
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
  };
}

/** Image ids as a cluster reports them, each once; without those that name no digest. */
export function digests(imageIds: readonly (string | undefined)[]): readonly string[] {
  const named = imageIds.filter((id): id is string => id !== undefined && isPinned(id));
  // Some runtimes prefix how they got the image.
  const plain = named.map((id) => id.replace(/^[a-z-]+:\/\//, ""));
  return [...new Set(plain)].sort().slice(0, maxImageDigests);
}

function isPinned(image: string): boolean {
  return /sha256:[0-9a-f]{64}$/.test(image);
}
