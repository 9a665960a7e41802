import { instantMs, type PolledItem, type Watermark } from "../../coordination/index.ts";
import {
  commandOutcome,
  type ReportOrigin,
  type ReportOutcome,
  type ReportRules,
  type ReportSubject,
  reviewOutcome,
  type TaskIntake,
} from "../../tasks/index.ts";
import type { GitLab, MergeRequest, Note, Project } from "../gitlab/gitlab.ts";
import type { ItemIntake } from "./item-intake.ts";
import { NotesMemory, touchThrottleMs } from "./notes-memory.ts";

export interface ProjectPollOptions {
  readonly gitlab: GitLab;
  readonly project: Project;
  /** The positions up to which merge requests and notes are processed. */
  readonly mergeRequests: Watermark;
  readonly notes: Watermark;
  readonly rules: ReportRules;
  readonly intake: TaskIntake;
  readonly items: ItemIntake;
  /** How late an item may become visible. */
  readonly overlapMs: number;
}

/**
 * Finds new merge requests, commits and notes of one project. With nothing new that is one request: every note lies on
 * a merge request of the same list, because a note changes the `updated_at` of its merge request, unless that was
 * changed within the last 60 s. So a note of the time t is on a merge request with an `updated_at` of t − 60 s or
 * later, and the list starts 60 s early. The same holds for new commits.
 */
export class ProjectPoll {
  readonly #options: ProjectPollOptions;
  readonly #memory: NotesMemory;
  /** Grows when a list is too long to be read at once. */
  #limit: number | undefined;

  constructor(options: ProjectPollOptions) {
    this.#options = options;
    this.#memory = new NotesMemory(options.overlapMs);
  }

  /** Runs one cycle. Throws an error that concerns the whole project; `superseded`: another replica polls it. */
  async poll(signal: AbortSignal): Promise<"polled" | "superseded"> {
    const { gitlab, project, mergeRequests, notes } = this.#options;
    const reviewFromMs = instantMs(mergeRequests.queryFrom()) - touchThrottleMs;
    const notesFrom = notes.queryFrom();
    const from = new Date(Math.min(reviewFromMs, instantMs(notesFrom) - touchThrottleMs)).toISOString();
    const limit = this.#limit === undefined ? {} : { limit: this.#limit };
    const { items, serverDate, more } = await gitlab.mergeRequestsSince(project.id, { from, ...limit }, signal);

    const reviewed: PolledItem[] = [];
    const processed: PolledItem[] = [];
    for (const item of items) {
      const isNew = instantMs(item.updatedAt) >= reviewFromMs;
      const finished = !isNew || (await this.#review(item));
      reviewed.push({ id: String(item.iid), updatedAt: item.updatedAt, finished });
      processed.push(...(await this.#processNotes(item, notesFrom, serverDate, signal)));
    }
    this.#memory.keep(items);

    signal.throwIfAborted();
    const outcomes = [await mergeRequests.advance(reviewed, serverDate, { more })];
    // A merge request that is not listed yet may have a note of any time, so the notes are not complete.
    if (!more) outcomes.push(await notes.advance(processed, serverDate));
    this.#limit = more ? 2 * Math.max(items.length, 100) : undefined;
    return outcomes.some(({ kind }) => kind === "stale") ? "superseded" : "polled";
  }

  #review(item: MergeRequest): Promise<boolean> {
    const { rules } = this.#options;
    const outcome = reviewOutcome(toReport(item), this.#origin(), rules);
    return this.#process(`merge request ${this.#mergeRequestName(item)}`, outcome, this.#subject(item));
  }

  /** Returns the notes since `from`, and whether each is processed. */
  async #processNotes(item: MergeRequest, from: string, serverDate: Date, signal: AbortSignal): Promise<PolledItem[]> {
    const { gitlab, items, rules } = this.#options;
    const mayHaveNotes = instantMs(item.updatedAt) >= instantMs(from) - touchThrottleMs;
    if (!mayHaveNotes || this.#memory.hasAll(item)) return [];

    const unread = `notes of merge request ${this.#mergeRequestName(item)}`;
    if (items.isAbandoned(unread)) return [];
    // A merge request that is gone or unreadable must not block the others.
    const notes = await items.read(unread, () => gitlab.notesSince(item, from, signal));
    if (notes.kind === "unreadable") return [{ id: unread, updatedAt: from, finished: notes.finished }];
    const processed: PolledItem[] = [];
    for (const note of notes.value) {
      const isNew = instantMs(note.createdAt) >= instantMs(from);
      const outcome = commandOutcome(toNoteReport(note), toReport(item), this.#origin(), rules);
      const subject = {
        ...this.#subject(item),
        object: "note",
        noteId: note.id,
        author: note.author.username,
      } as const;
      const id = `note ${note.id} of ${this.#mergeRequestName(item)}`;
      const finished = !isNew || (await this.#process(id, outcome, subject));
      processed.push({ id: String(note.id), updatedAt: note.createdAt, finished });
    }
    if (processed.every(({ finished }) => finished)) this.#memory.read(item, serverDate);
    return processed;
  }

  /** Returns whether the report is processed. */
  async #process(id: string, outcome: ReportOutcome, subject: ReportSubject): Promise<boolean> {
    const { intake, items } = this.#options;
    if (outcome.kind === "task") return items.isAbandoned(id) || items.create(id, outcome.draft, subject);
    await intake.recordIgnored({ ...outcome, subject, source: "poll" });
    return true;
  }

  #subject({ iid, headSha, author }: MergeRequest): ReportSubject {
    const { gitlab, project } = this.#options;
    const { id, path } = project;
    const where = { host: gitlab.host, id, path };
    return { object: "merge_request", project: where, iid, headSha, author: author.username };
  }

  #origin(): ReportOrigin {
    const { gitlab, project, intake } = this.#options;
    const { id, path } = project;
    return { project: { host: gitlab.host, id, path }, source: "poll", receivedTime: intake.now() };
  }

  #mergeRequestName({ iid }: MergeRequest): string {
    return `${this.#options.project.path}!${iid}`;
  }
}

function toReport({ state, draft, ...item }: MergeRequest) {
  return { ...item, isOpen: state === "opened", isDraft: draft };
}

function toNoteReport({ system, ...note }: Note) {
  return { ...note, isSystem: system };
}
