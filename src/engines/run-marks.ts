import type { KubeObject, ObjectMeta } from "../kube/index.ts";
import { annotationKeys, type Engine, labelKeys, labelText, managedBy } from "../resources/index.ts";
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
