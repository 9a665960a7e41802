import type { CodingTask } from "../resources/index.ts";
import { type IgnoreReason, type ReportSubject, subjectName } from "./report.ts";

/** The facts that every ledger event of a task has. */
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

/** The event of a task's creation. It has the same id whichever process appends it. */
export function taskReceivedEvent(task: CodingTask) {
  const { metadata, spec } = task;
  return {
    id: `${metadata.uid}/task.received`,
    type: "task.received",
    at: spec.receivedTime,
    facts: { ...taskFacts(task), source: spec.source },
  } as const;
}

export interface IgnoredReport {
  readonly subject: ReportSubject;
  readonly reason: IgnoreReason;
  readonly because: string;
  readonly source: "webhook" | "poll";
}

/** The event of a report that becomes no task. */
export function reportIgnoredEvent({ subject, reason, because, source }: IgnoredReport, at: string) {
  const { object, project, headSha, noteId, issue, author } = subject;
  const about = subjectName(subject);
  return {
    // Each report is an event of its own: two replicas may receive the same one at different times.
    id: ["task.ignored", about ?? object, noteId ?? headSha ?? "", reason, source, at].join("/"),
    type: "task.ignored",
    at,
    facts: {
      ...{ object, reason, message: because, source },
      ...(about === undefined ? {} : { target_resource: about }),
      ...(project === undefined ? {} : { project_id: project.id }),
      ...(noteId === undefined ? {} : { note: noteId }),
      ...(issue === undefined ? {} : { issue }),
      ...(headSha === undefined ? {} : { head_sha: headSha }),
      ...(author ? { by: author } : {}),
    },
  } as const;
}
