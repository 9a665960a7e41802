import { type GitLab, type MergeRequest, type Note, RemoteError } from "../../../src/agent/index.ts";
import type { Clock } from "../../../src/time/index.ts";

export interface FakeGitLabOptions {
  readonly clock: Clock;
  /** How far its clock is from ours. */
  readonly skewMs?: number;
  /** The offset of its times, such as `+05:30`. */
  readonly offset?: string;
}

/** The part of GitLab that a poller reads: lists, the clock, and `updated_at`, which changes at most every 60 s. */
export class FakeGitLab {
  readonly requests: string[] = [];
  defaultBranch = "trunk";
  /** Rejects the calls for which it returns something. */
  fault: (call: string) => RemoteError | undefined = () => undefined;
  readonly #clock: Clock;
  readonly #skewMs: number;
  readonly #offset: string;
  readonly #mergeRequests = new Map<string, MergeRequest & { readonly updatedMs: number }>();
  readonly #notes = new Map<string, (Note & { readonly createdMs: number; readonly visibleMs: number })[]>();
  readonly #pageSize = 100;
  #ids = 100;

  constructor({ clock, skewMs = 0, offset = "Z" }: FakeGitLabOptions) {
    this.#clock = clock;
    this.#skewMs = skewMs;
    this.#offset = offset;
  }

  get nowMs(): number {
    return this.#clock.wallMs() + this.#skewMs;
  }

  /** A merge request that is opened now, or as if it had been changed then. */
  open(projectId: number, change: Partial<MergeRequest> = {}, updatedMs = this.nowMs): MergeRequest {
    const iid = change.iid ?? ++this.#ids;
    const item = {
      projectId,
      iid,
      title: "t",
      description: "",
      state: "opened",
      draft: false,
      labels: [],
      author: { id: 3, username: "ada" },
      sourceBranch: `topic-${iid}`,
      targetBranch: "main",
      sourceProjectId: projectId,
      headSha: iid.toString(16).padStart(40, "0"),
      webUrl: "",
      updatedAt: this.#written(updatedMs),
      ...change,
    } as const;
    this.#mergeRequests.set(`${projectId}!${iid}`, { ...item, updatedMs });
    return item;
  }

  /** Something happens to it: `updated_at` follows unless it changed within the last 60 s. */
  touch({ projectId, iid }: MergeRequest, change: Partial<MergeRequest> = {}): void {
    const item = this.#mergeRequests.get(`${projectId}!${iid}`);
    if (!item) throw new TypeError("there is no such merge request");
    const updatedMs = this.nowMs - item.updatedMs > 60_000 ? this.nowMs : item.updatedMs;
    this.open(projectId, { ...item, ...change, updatedAt: this.#written(updatedMs) }, updatedMs);
  }

  /** Adds a comment. `lateMs`: the delay until it is visible, because its transaction takes long. */
  comment(item: MergeRequest, body: string, lateMs = 0): number {
    const id = ++this.#ids;
    const key = `${item.projectId}!${item.iid}`;
    const createdAt = this.#written(this.nowMs);
    const note = { id, body, author: { id: 3, username: "ada" }, system: false, internal: false, createdAt };
    const notes = this.#notes.get(key) ?? [];
    notes.push({ ...note, createdMs: this.nowMs, visibleMs: this.nowMs + lateMs });
    this.#notes.set(key, notes);
    this.touch(item);
    return id;
  }

  /** As the poller is given it. */
  port(): GitLab {
    const ask = async <T>(call: string, answer: () => T): Promise<T> => {
      this.requests.push(call);
      const error = this.fault(call);
      if (error) throw error;
      return answer();
    };
    const calls: Partial<GitLab> = {
      host: "gitlab.example.com",
      self: () => ask("self", () => ({ id: 1, username: "bot" })),
      project: (id) => ask(`project ${id}`, () => this.#project(Number(id))),
      mergeRequestsSince: (projectId, { from, limit }) =>
        ask(`merge requests of ${projectId}`, () => this.#list(projectId, Date.parse(from), limit)),
      notesSince: ({ projectId, iid }, from) =>
        ask(`notes of ${projectId}!${iid}`, () =>
          (this.#notes.get(`${projectId}!${iid}`) ?? []).filter(
            ({ createdMs, visibleMs }) => createdMs >= Date.parse(from) && visibleMs <= this.nowMs,
          ),
        ),
    };
    return calls as GitLab;
  }

  #project(id: number) {
    if (Number.isNaN(id)) throw new RemoteError("missing", "there is no such project");
    return { id, path: `group/p${id}`, webUrl: "", cloneUrl: "", defaultBranch: this.defaultBranch };
  }

  #list(projectId: number, fromMs: number, limit = Number.POSITIVE_INFINITY) {
    const items = [...this.#mergeRequests.values()]
      .filter((item) => item.projectId === projectId && item.updatedMs >= fromMs)
      .sort((a, b) => a.updatedMs - b.updatedMs);
    for (let page = 1; page * this.#pageSize < Math.min(items.length, limit); page++) {
      this.requests.push(`page ${page + 1} of merge requests of ${projectId}`);
    }
    // The Date header has whole seconds.
    const serverDate = new Date(Math.floor(this.nowMs / 1_000) * 1_000);
    return { items: items.slice(0, limit), serverDate, more: items.length > limit };
  }

  #written(ms: number): string {
    if (this.#offset === "Z") return new Date(ms).toISOString();
    const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(this.#offset) ?? [];
    const offsetMs = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(ms + offsetMs).toISOString().replace("Z", this.#offset);
  }
}
