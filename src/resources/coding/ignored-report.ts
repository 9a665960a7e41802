import type { IgnoreReason } from "./task-reports.ts";

/** What a report is about, as far as it is known. */
export interface ReportSubject {
  readonly object: "merge_request" | "note" | "issue";
  readonly project?: { readonly host: string; readonly id: number; readonly path: string } | undefined;
  /** Number of the merge request. */
  readonly iid?: number | undefined;
  readonly headSha?: string | undefined;
  readonly noteId?: number | undefined;
  /** Key of the issue. */
  readonly issue?: string | undefined;
  readonly author?: string | undefined;
}

export interface IgnoredReport {
  readonly subject: ReportSubject;
  readonly reason: IgnoreReason;
  readonly because: string;
  readonly source: "webhook" | "poll";
  readonly at: string;
}

/** That a report became no task, as the ledger records it. */
export function reportIgnored({ subject, reason, because, source, at }: IgnoredReport) {
  const { object, project, headSha, noteId, issue, author } = subject;
  const about = subjectName(subject);
  return {
    // Each report is an event of its own: two replicas may hear of the same thing at different times.
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

/** What people call it: `gitlab.example.com/group/app!7`, or the key of an issue. */
export function subjectName({ project, iid, issue }: ReportSubject): string | undefined {
  if (issue !== undefined) return issue;
  return project === undefined || iid === undefined ? undefined : `${project.host}/${project.path}!${iid}`;
}
