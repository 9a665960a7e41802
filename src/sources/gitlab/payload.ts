import { part, optionalText as text, z } from "../../schema/index.ts";
import type { ReportedMergeRequest, ReportedNote, ReportSubject, TaskDraft } from "../../tasks/index.ts";

/** The payload of a webhook, as far as it is readable: any field may be missing or of another type. */
export type Payload = z.output<typeof payload>;

export type ReportedAttributes = Payload["object_attributes"];

const id = z.int().positive().optional().catch(undefined);
const anything = z.unknown().optional();
const label = part({ title: text });
const labels = z.array(label).transform(titles).optional().catch(undefined);
/** Milliseconds since 1970. Webhooks write `2026-11-15 06:05:00 UTC` where the API writes ISO 8601. */
export const time = z.string().transform(toMs).optional().catch(undefined);

const mergeRequest = {
  iid: id,
  state: text,
  draft: anything,
  work_in_progress: anything,
  labels,
  last_commit: part({ id: text }),
  source_project_id: id,
  source_branch: text,
  target_branch: text,
};

const note = {
  id,
  author_id: id,
  note: z.string().optional().catch(undefined),
  discussion_id: text,
  system: anything,
  noteable_type: text,
  created_at: time,
  updated_at: time,
};

export const payload = part({
  object_kind: text,
  project: part({ id, path_with_namespace: text }),
  user: part({ id, username: text }),
  object_attributes: part({ ...mergeRequest, ...note, action: text, oldrev: text }),
  merge_request: part(mergeRequest),
  labels,
  changes: part({ draft: part({ current: anything }), labels: part({ previous: labels, current: labels }) }),
});

export function projectIn({ project }: Payload, host: string): TaskDraft["project"] | undefined {
  const { id, path_with_namespace: path } = project;
  return id !== undefined && path !== undefined ? { host, id, path } : undefined;
}

/** A merge request as it is in its own events and in those of its notes. */
export function mergeRequestIn(
  reported: Payload["merge_request"],
  projectId: number,
): ReportedMergeRequest | undefined {
  const { iid, source_branch: sourceBranch, target_branch: targetBranch, last_commit, labels = [] } = reported;
  if (iid === undefined || sourceBranch === undefined || targetBranch === undefined) return undefined;
  const sha = last_commit.id;
  return {
    iid,
    isOpen: reported.state === "opened",
    isDraft: (reported.draft ?? reported.work_in_progress) === true,
    labels,
    headSha: sha !== undefined && /^[0-9a-f]{40,64}$/.test(sha) ? sha : undefined,
    sourceBranch,
    targetBranch,
    sourceProjectId: reported.source_project_id ?? projectId,
  };
}

export function noteIn({ object_attributes: reported, user }: Payload): ReportedNote | undefined {
  const { id, note: body, author_id = user.id } = reported;
  if (id === undefined || author_id === undefined || body === undefined) return undefined;
  return {
    id,
    discussionId: reported.discussion_id,
    author: { id: author_id, username: user.username ?? "" },
    body,
    isSystem: reported.system === true,
  };
}

/** Returns the subject of an event for the ledger: all facts that the payload has. */
export function subjectIn(body: Payload, object: "merge_request" | "note", host: string): ReportSubject {
  const { iid, last_commit } = object === "note" ? body.merge_request : body.object_attributes;
  return {
    object,
    project: projectIn(body, host),
    iid,
    headSha: last_commit.id?.slice(0, 64),
    ...(object === "note" && { noteId: body.object_attributes.id }),
    author: body.user.username?.slice(0, 253),
  };
}

function titles(list: readonly z.output<typeof label>[]): readonly string[] {
  return list.flatMap(({ title }) => title ?? []);
}

function toMs(text: string): number | undefined {
  const iso = text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) UTC$/, "$1T$2Z");
  const ms = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)? ?(Z|[+-]\d\d:?\d\d)$/.test(iso) ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
