import type { ReportedMergeRequest, ReportedNote, ReportSubject, TaskDraft } from "../../tasks/index.ts";
import { isObject, type Json } from "../json.ts";

/** The payload of a webhook: any field may be missing or of another type. */
export function part(value: unknown, name: string): Json {
  const found = isObject(value) ? value[name] : undefined;
  return isObject(found) ? found : {};
}

export function projectIn(body: Json, host: string): TaskDraft["project"] | undefined {
  const { id: written, path_with_namespace } = part(body, "project");
  const id = idIn(written);
  const path = textIn(path_with_namespace);
  return id !== undefined && path !== undefined ? { host, id, path } : undefined;
}

/** A merge request as it is in its own events and in those of its notes. */
export function mergeRequestIn(value: Json, projectId: number): ReportedMergeRequest | undefined {
  const { state, draft, work_in_progress, labels, source_project_id, source_branch, target_branch } = value;
  const { iid: written } = value;
  const iid = idIn(written);
  const sourceBranch = textIn(source_branch);
  const targetBranch = textIn(target_branch);
  if (iid === undefined || sourceBranch === undefined || targetBranch === undefined) return undefined;
  const { id } = part(value, "last_commit");
  const sha = textIn(id);
  return {
    iid,
    isOpen: state === "opened",
    isDraft: (draft ?? work_in_progress) === true,
    labels: labelsIn(labels),
    headSha: sha !== undefined && /^[0-9a-f]{40,64}$/.test(sha) ? sha : undefined,
    sourceBranch,
    targetBranch,
    sourceProjectId: idIn(source_project_id) ?? projectId,
  };
}

export function noteIn(body: Json): ReportedNote | undefined {
  const { id: written, author_id, note, discussion_id, system } = part(body, "object_attributes");
  const { id: userId, username } = part(body, "user");
  const id = idIn(written);
  const authorId = idIn(author_id) ?? idIn(userId);
  if (id === undefined || authorId === undefined || typeof note !== "string") return undefined;
  return {
    id,
    discussionId: textIn(discussion_id),
    author: { id: authorId, username: textIn(username) ?? "" },
    body: note,
    isSystem: system === true,
  };
}

/** Returns the subject of an event for the ledger: all facts that the payload has. */
export function subjectIn(body: Json, object: "merge_request" | "note", host: string): ReportSubject {
  const attributes = part(body, "object_attributes");
  const mergeRequest = object === "note" ? part(body, "merge_request") : attributes;
  const { iid } = mergeRequest;
  const { id: headSha } = part(mergeRequest, "last_commit");
  const { id: noteId } = attributes;
  const { username } = part(body, "user");
  return {
    object,
    project: projectIn(body, host),
    iid: idIn(iid),
    headSha: textIn(headSha)?.slice(0, 64),
    ...(object === "note" && { noteId: idIn(noteId) }),
    author: textIn(username)?.slice(0, 253),
  };
}

export function labelsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).flatMap(({ title }) => textIn(title) ?? []);
}

/** Milliseconds since 1970. Webhooks write `2026-11-15 06:05:00 UTC` where the API writes ISO 8601. */
export function timeIn(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const iso = value.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) UTC$/, "$1T$2Z");
  const ms = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)? ?(Z|[+-]\d\d:?\d\d)$/.test(iso) ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function idIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
