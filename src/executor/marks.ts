import {
  executionFinalizer,
  labelKeys,
  type ObjectTarget,
  targetHash,
  type WorkflowExecution,
} from "../resources/index.ts";

/** Returns the labels and the finalizer that an execution needs before anything else is done. Its creator may set them. */
export function requiredMarks({ spec }: WorkflowExecution, target: ObjectTarget) {
  return {
    labels: { [labelKeys.targetHash]: targetHash(target), [labelKeys.workflowId]: spec.workflowRef.workflowId },
    finalizer: executionFinalizer,
  };
}

export function isMarked(execution: WorkflowExecution, target: ObjectTarget): boolean {
  const { labels = {}, finalizers = [] } = execution.metadata;
  const marks = requiredMarks(execution, target);
  return (
    finalizers.includes(marks.finalizer) && Object.entries(marks.labels).every(([key, value]) => labels[key] === value)
  );
}
