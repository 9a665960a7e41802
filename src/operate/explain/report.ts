import { byAge } from "../../kube/index.ts";
import type { LedgerEvent } from "../../ledger/index.ts";
import { type CodingTask, codingTasks } from "../../resources/index.ts";
import type { OperateContext } from "../context.ts";
import { OperationError } from "../errors/index.ts";
import type { Explanation } from "./explanation.ts";
import { explainTaskList } from "./task.ts";

/** The parts of a name of an item that GitLab or Jira reports: a merge request, a comment or an issue. */
export interface ReportedItem {
  /** Undefined: any server. */
  readonly host?: string | undefined;
  /** Path of the project. */
  readonly path?: string | undefined;
  readonly iid?: number | undefined;
  readonly noteId?: number | undefined;
  readonly issue?: string | undefined;
}

const jiraKey = /^[A-Z][A-Z0-9_]+-\d+$/;

/**
 * Parses the address of a merge request, of a comment on one or of an issue in Jira, or a short form: `group/app!7`,
 * `note:123` or `APP-7`. Undefined for any other text.
 */
export function parseReported(text: string): ReportedItem | undefined {
  if (URL.canParse(text) && /^https?:/.test(text)) return parseUrl(new URL(text));
  const [, noteId] = /^note:(\d{1,15})$/.exec(text) ?? [];
  if (noteId !== undefined) return { noteId: Number(noteId) };
  if (jiraKey.test(text)) return { issue: text };
  const [, host, path, iid] =
    /^(?:([\w.-]+\.[\w.-]+(?::\d+)?)\/)?([\w.+-]+(?:\/[\w.+-]+)+)!(\d{1,9})$/.exec(text) ?? [];
  return path === undefined ? undefined : { host, path, iid: Number(iid) };
}

function parseUrl({ host, pathname, hash }: URL): ReportedItem | undefined {
  const [, path, iid] = /^\/(.+?)(?:\/-)?\/merge_requests\/(\d{1,9})(?:\/|$)/.exec(pathname) ?? [];
  const [, noteId] = /^#note_(\d{1,15})$/.exec(hash) ?? [];
  // A path of GitLab has no character that a URL would encode, so it needs no decoding.
  if (path !== undefined) return { host, path, iid: Number(iid), ...(noteId && { noteId: Number(noteId) }) };
  const issue = pathname.split("/").at(-1) ?? "";
  return /\/browse\//.test(pathname) && jiraKey.test(issue) ? { issue } : undefined;
}

/** Explains the tasks of a merge request, a comment or an issue, and ignored reports of it; undefined if `subject` is none of them. */
export async function explainReported(subject: string, context: OperateContext): Promise<Explanation | undefined> {
  const reported = parseReported(subject);
  if (!reported) return undefined;
  const { items } = await context.client.list(codingTasks);
  const tasks = items.filter((task) => isAboutTask(task, reported)).sort(byAge);
  const matches = (event: LedgerEvent) => isAboutEvent(event, reported);
  const events = await context.readEvents(eventFilter(reported), { matches, max: maxShown });
  const ignored = events ?? [];
  if (tasks.length === 0 && ignored.length === 0) {
    const where = events
      ? "neither a task nor the ledger has it: no webhook and no poll has reported it"
      : "no task is about it, and the ledger cannot be read here";
    throw new OperationError("not-found", `${subject}: ${where}`, {
      hint: "see docs/agent.md for the sources of tasks",
    });
  }
  return {
    facts: { tasks, ignored },
    text: [...(await explainTaskList(tasks, context)), ...ignored.toReversed().map(explainIgnored)],
  };
}

const maxShown = 10;

/** The ledger can only look up an issue, or a merge request with its host. */
function eventFilter({ host, path, iid, issue }: ReportedItem) {
  const type = "task.ignored" as const;
  if (issue !== undefined) return { type, target: issue };
  return host !== undefined && path !== undefined ? { type, target: `${host}/${path}!${iid}` } : { type };
}

function isAboutTask({ spec }: CodingTask, { host, path, iid, noteId, issue }: ReportedItem): boolean {
  if (spec.type === "Issue") return spec.issue.key === issue;
  if (issue !== undefined) return false;
  if (noteId !== undefined && (spec.type !== "Command" || spec.note.id !== noteId)) return false;
  if (path === undefined) return noteId !== undefined;
  const isThere = spec.project.path.toLowerCase() === path.toLowerCase() && spec.mergeRequest.iid === iid;
  return isThere && (host === undefined || spec.project.host === host);
}

function isAboutEvent({ type, facts }: LedgerEvent, { path, iid, noteId, issue }: ReportedItem): boolean {
  if (type !== "task.ignored") return false;
  if (issue !== undefined) return facts["issue"] === issue;
  if (noteId !== undefined && facts["note"] !== noteId) return false;
  return path === undefined || String(facts["target_resource"]).endsWith(`/${path}!${iid}`);
}

function explainIgnored({ at, facts }: LedgerEvent): readonly string[] {
  const { object, target_resource: about, note, reason, message, source, by, head_sha: sha } = facts;
  const what = object === "note" ? `comment ${note ?? ""}${about ? ` on ${about}` : ""}` : String(about ?? object);
  const lines = [`${what}: ignored, ${reason}`, `  because      ${message}`];
  lines.push(`  reported     ${by ? `by ${by}, ` : ""}at ${at}, reported by ${source}`);
  if (sha) lines.push(`  commit       ${sha}`);
  return lines;
}
