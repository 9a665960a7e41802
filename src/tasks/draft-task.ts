import { nameHash } from "../kube/index.ts";
import {
  type CodingTask,
  type CodingTaskSpec,
  codingTasks,
  labelKeys,
  managedBy,
  targetHash,
  toRepositoryTarget,
} from "../resources/index.ts";

/** A task before it has a name and a target: both follow from the rest. */
export type TaskDraft = WithoutTarget<CodingTaskSpec>;
type WithoutTarget<S> = S extends CodingTaskSpec ? Omit<S, "targetResource"> : never;

export type TaskReading =
  | { readonly kind: "task"; readonly task: CodingTask }
  /** A sentence without its subject. */
  | { readonly kind: "problem"; readonly problem: string };

/**
 * The task as it is created. Its name follows from its claim key, so that the API server accepts it once, however many
 * webhooks and pollers report it, to however many replicas.
 */
export function draftTask(draft: TaskDraft, namespace: string): TaskReading {
  const reading = toRepositoryTarget(writtenBranch(draft));
  if (reading.kind === "problem") return reading;

  const { target } = reading;
  const task: CodingTask = {
    apiVersion: codingTasks.apiVersion,
    kind: codingTasks.kind,
    metadata: {
      namespace,
      name: taskName(draft.claimKey),
      labels: { [managedBy.label]: managedBy.value, [labelKeys.targetHash]: targetHash(target) },
    },
    spec: { ...draft, targetResource: target.text },
  };
  return { kind: "task", task };
}

/** The name of the task with this key: creating it is the claim. */
export function taskName(claimKey: string): string {
  return `ct-${nameHash(claimKey)}`;
}

/** The branch that the task writes to. A merge request from a fork has its branch there. */
function writtenBranch(draft: TaskDraft) {
  const { host, id, path } = draft.project;
  const url = `https://${host}/${path}`;
  if (draft.type === "Issue") return { url, projectId: id, branch: draft.branch };
  const { sourceBranch, sourceProjectId = id } = draft.mergeRequest;
  return { url, projectId: sourceProjectId, branch: sourceBranch };
}
