import {
  executionFinalizer,
  labelKeys,
  type ObjectTarget,
  targetHash,
  type WorkflowExecution,
} from "../resources/index.ts";

/** What an execution must carry before anything is done for it. Whoever creates one may set it already. */
export function marksOf({ spec }: WorkflowExecution, target: ObjectTarget) {
  return {
    labels: { [labelKeys.targetHash]: targetHash(target), [labelKeys.workflowId]: spec.workflowRef.workflowId },
    finalizer: executionFinalizer,
  };
}

export function isMarked(execution: WorkflowExecution, target: ObjectTarget): boolean {
  const { labels = {}, finalizers = [] } = execution.metadata;
  const marks = marksOf(execution, target);
  return (
    finalizers.includes(marks.finalizer) && Object.entries(marks.labels).every(([key, value]) => labels[key] === value)
  );
}
