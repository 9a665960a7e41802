import type { CodingTask } from "../coding-task.ts";

/** What the ledger says of a task whenever it speaks of it. */
export function taskFacts({ metadata, spec }: CodingTask) {
  return {
    task: `${metadata.namespace}/${metadata.name}`,
    task_type: spec.type,
    target_resource: spec.targetResource,
    claim_key: spec.claimKey,
    ...(spec.type === "Issue"
      ? { issue: spec.issue.key }
      : { merge_request: `${spec.project.host}/${spec.project.path}!${spec.mergeRequest.iid}` }),
    ...(spec.requestedBy === undefined ? {} : { by: spec.requestedBy }),
  };
}

/** That a task was made, as the ledger tells it: the same event, whoever made it. */
export function taskReceived(task: CodingTask) {
  const { metadata, spec } = task;
  return {
    id: `${metadata.uid}/task.received`,
    type: "task.received",
    at: spec.receivedTime,
    facts: { ...taskFacts(task), source: spec.source },
  } as const;
}
