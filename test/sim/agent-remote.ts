import { createHash } from "node:crypto";
import type {
  Changes,
  Coder,
  CommitDraft,
  Discussion,
  GitLab,
  Jira,
  JiraComment,
  MergeRequest,
  Note,
  PushOrder,
  Workshop,
} from "../../src/agent/index.ts";
import { RemoteError } from "../../src/agent/index.ts";
import type { FencedPushOutcome } from "../../src/coordination/index.ts";
import { sleep } from "../../src/time/index.ts";
import { Network } from "./network.ts";
import type { Process, World } from "./world.ts";

const botId = 99;
/** A user who is not a member of the project. */
export const strangerId = 7;
export const host = "gitlab.example.com";
export const site = "jira.example.com";
export const projectId = 42;
export const statuses = { trigger: "AI Ready", inProgress: "In Progress", inReview: "In Review" };

interface Commit {
  readonly sha: string;
  readonly parent: string | undefined;
  readonly message: string;
}

interface Issue {
  status: string;
  since: string;
  readonly comments: JiraComment[];
  /** Every move, as it happened. */
  readonly moves: string[];
}

/** GitLab, Git and Jira, as much as the agent sees of them, with one process's bad way to them each. */
export class AgentRemote {
  readonly commits = new Map<string, Commit>();
  readonly branches = new Map<string, string>();
  readonly mergeRequests = new Map<number, MergeRequest>();
  readonly discussions = new Map<number, Discussion[]>();
  readonly issues = new Map<string, Issue>();
  /** The comments that the agent marked as seen. */
  readonly awards = new Set<number>();
  readonly #world: World;
  readonly #network: Network;
  readonly #fences = new Map<string, { readonly fence: bigint; readonly commit: string }>();
  readonly #agentFails: number;
  #healed = false;
  #ids = 1_000;

  constructor(world: World) {
    this.#world = world;
    const timedOut = () => new RemoteError("unavailable", "the call timed out");
    // No client sends a request twice by itself.
    this.#network = new Network(world, { timeoutMs: 8_000, timedOut, doubles: false });
    this.#agentFails = world.chance.happens(0.5) ? world.chance.between(0, 0.2) : 0;
  }

  heal(): void {
    this.#healed = true;
    this.#network.heal();
  }

  nextId(): number {
    return this.#ids++;
  }

  /** A user pushes. */
  push(branch: string, message: string): string {
    const sha = this.#addCommit(this.branches.get(branch), message);
    this.#move(branch, sha);
    return sha;
  }

  openMergeRequest(sourceBranch: string, title: string): MergeRequest {
    const iid = this.mergeRequests.size + 1;
    const made: MergeRequest = {
      ...{ projectId, iid, title, description: "", state: "opened", draft: false, labels: [] },
      ...{ author: { id: 1, username: "kim" }, sourceBranch, targetBranch: "main", sourceProjectId: projectId },
      ...{ headSha: this.branches.get(sourceBranch), webUrl: `https://${host}/app/-/merge_requests/${iid}` },
      updatedAt: new Date(0).toISOString(),
    };
    this.mergeRequests.set(iid, made);
    this.discussions.set(iid, []);
    return made;
  }

  comment(iid: number, author: number, body: string, discussionId?: string): Note {
    const note: Note = {
      ...{ id: this.nextId(), body, system: false, internal: false, createdAt: new Date(0).toISOString() },
      author: { id: author, username: author === botId ? "bot" : "kim" },
    };
    const all = this.discussions.get(iid) ?? [];
    const known = all.find(({ id }) => id === discussionId);
    if (known) (known.notes as Note[]).push(note);
    else all.push({ id: `d${note.id}`, notes: [note] });
    return note;
  }

  /** Every note of a merge request, oldest first. */
  notes(iid: number): readonly Note[] {
    return (this.discussions.get(iid) ?? []).flatMap(({ notes }) => notes).sort((a, b) => a.id - b.id);
  }

  /** What led to the head of a branch, newest first. */
  history(head: string | undefined): readonly Commit[] {
    const found: Commit[] = [];
    for (let at = head; at !== undefined; ) {
      const commit = this.commits.get(at);
      if (!commit) break;
      found.push(commit);
      at = commit.parent;
    }
    return found;
  }

  gitlabOf(process: Process): GitLab {
    const call = <T>(apply: () => T): Promise<T> => this.#network.call(process, async () => apply());
    const need = ({ iid }: { readonly iid: number }) => {
      const found = this.mergeRequests.get(iid);
      if (!found) throw new RemoteError("missing", "there is no such merge request", { status: 404 });
      return found;
    };
    const project = {
      ...{ id: projectId, path: "group/app", webUrl: `https://${host}/group/app` },
      ...{ cloneUrl: `https://${host}/group/app.git`, defaultBranch: "main" },
    };
    const changesOf = (mergeRequest: MergeRequest): Changes | undefined => {
      const { headSha } = mergeRequest;
      if (headSha === undefined) return undefined;
      return {
        refs: { baseSha: "b".repeat(40), startSha: "b".repeat(40), headSha },
        createdAt: new Date(0).toISOString(),
        files: [],
      };
    };
    return {
      host,
      self: () => call(() => ({ id: botId, username: "bot" })),
      project: () => call(() => project),
      accessLevel: (_project, userId) => call(() => (userId === 1 ? 30 : 0)),
      mergeRequest: (place) => call(() => need(place)),
      mergeRequestsSince: () => Promise.reject(new TypeError("polling is not simulated here")),
      notesSince: ({ iid }, from) =>
        call(() => {
          const notes = (this.discussions.get(iid) ?? []).flatMap(({ notes }) => notes);
          return structuredClone(notes.filter(({ createdAt }) => Date.parse(createdAt) >= Date.parse(from)));
        }),
      createMergeRequest: (_project, draft) =>
        call(() => this.#openOf(draft.sourceBranch) ?? this.openMergeRequest(draft.sourceBranch, draft.title)),
      changes: (place) => call(() => changesOf(need(place))),
      discussions: ({ iid }) => call(() => structuredClone(this.discussions.get(iid) ?? [])),
      startDiscussion: ({ iid }, { body }) =>
        call(() => {
          const note = this.comment(iid, botId, body);
          return { id: `d${note.id}`, notes: [note] };
        }),
      addNote: ({ iid }, body, discussionId) => call(() => this.comment(iid, botId, body, discussionId)),
      changeNote: ({ iid }, noteId, body) => call(() => this.#changeNote(iid, noteId, body)),
      deleteNote: ({ iid }, noteId) => call(() => this.#changeNote(iid, noteId, undefined)),
      award: (_place, noteId) => call(() => void this.awards.add(noteId)),
    };
  }

  workshopOf(process: Process): Workshop {
    const call = <T>(apply: () => T): Promise<T> => this.#network.call(process, async () => apply());
    return {
      branchHead: (_repository, branch) => call(() => this.branches.get(branch)),
      fetchCommit: () => call(() => undefined),
      findTask: async (_repository, head, taskUid) =>
        this.history(head)
          .slice(0, 200)
          .find(({ message }) => message.includes(`Interlock-Task: ${taskUid}`))?.sha,
      checkout: () => Promise.reject(new TypeError("there are no files here")),
      createPatch: () => Promise.reject(new TypeError("there are no files here")),
      commit: async (_repository, draft) => ({ kind: "committed", sha: this.#commit(draft) }),
      push: (_repository, order) => {
        order.lease.assertHeld();
        return call(() => this.#push(order));
      },
    };
  }

  coderOf(process: Process): Coder {
    const { chance } = this.#world;
    return {
      run: async ({ request, sha, taskUid }, signal) => {
        await sleep(process.clock, chance.between(100, 6_000), signal);
        if (!this.#healed && chance.happens(this.#agentFails)) {
          this.#world.struck("agent fails");
          return { kind: "failed", reason: "ExitCode", message: "it ended with 1", retry: true };
        }
        const summary = `done by ${process.name}`;
        if (request.kind === "edit") {
          const patch = { base: sha, bytes: Buffer.from(taskUid), files: [taskUid] };
          return { kind: "edited", summary, change: { kind: "patch", patch } };
        }
        const count = chance.whole(0, 3);
        const finding = { path: "a.ts", line: 1, side: "new", severity: "info", message: "look" } as const;
        return { kind: "reviewed", summary, findings: Array.from({ length: count }, () => finding) };
      },
    };
  }

  jiraOf(process: Process): Jira {
    const call = <T>(apply: () => T): Promise<T> => this.#network.call(process, async () => apply());
    const need = (key: string) => {
      const found = this.issues.get(key);
      if (!found) throw new RemoteError("missing", "there is no such issue", { status: 404 });
      return found;
    };
    return {
      site,
      self: () => call(() => "bot"),
      issuesIn: () => Promise.reject(new TypeError("polling is not simulated here")),
      issue: (key) =>
        call(() => {
          const { status, since } = need(key);
          const words = { summary: "Do it", description: "as said" };
          return { key, ...words, status, statusSince: since, webUrl: `https://${site}/${key}`, reporter: undefined };
        }),
      moveTo: (key, status) =>
        call(() => {
          this.moveIssue(key, status);
          return { kind: "moved" };
        }),
      comments: (key) => call(() => [...need(key).comments]),
      addComment: (key, text) =>
        call(() => {
          const made = { id: String(this.nextId()), authorId: "bot", text };
          need(key).comments.push(made);
          return made;
        }),
      changeComment: (key, id, text) =>
        call(() => {
          const { comments } = need(key);
          const at = comments.findIndex((one) => one.id === id);
          if (at >= 0) comments[at] = { id, authorId: "bot", text };
        }),
      deleteComment: (key, id) =>
        call(() => {
          const { comments } = need(key);
          const at = comments.findIndex((one) => one.id === id);
          if (at >= 0) comments.splice(at, 1);
        }),
    };
  }

  moveIssue(key: string, status: string): void {
    const issue = this.issues.get(key);
    if (!issue || issue.status === status) return;
    issue.moves.push(status);
    issue.status = status;
    issue.since = new Date(1_700_000_000_000 + Math.round(this.#world.now)).toISOString();
  }

  #openOf(branch: string): MergeRequest | undefined {
    return [...this.mergeRequests.values()].find((one) => one.sourceBranch === branch && one.state === "opened");
  }

  #changeNote(iid: number, noteId: number, body: string | undefined) {
    for (const { notes } of this.discussions.get(iid) ?? []) {
      const at = notes.findIndex(({ id }) => id === noteId);
      if (at >= 0) (notes as Note[]).splice(at, 1, ...(body === undefined ? [] : [{ ...(notes[at] as Note), body }]));
    }
  }

  #commit({ parent, message, patch, atSeconds }: CommitDraft): string {
    return this.#addCommit(parent, message, `${patch.files.join()} ${atSeconds}`);
  }

  #addCommit(parent: string | undefined, message: string, content = String(this.nextId())): string {
    const sha = createHash("sha1").update(`${parent}\n${message}\n${content}`).digest("hex");
    this.commits.set(sha, { sha, parent, message });
    return sha;
  }

  #push({ branch, expectedSha, commit, lease }: PushOrder): FencedPushOutcome {
    const fence = this.#fences.get(branch);
    const head = this.branches.get(branch);
    if (fence && fence.fence > lease.fence) return { kind: "stale", fence: fence.fence };
    if (head === commit && fence?.commit === commit) return { kind: "pushed" };
    if (head !== expectedSha) return { kind: "moved", sha: head };
    this.#fences.set(branch, { fence: lease.fence, commit });
    this.#move(branch, commit);
    return { kind: "pushed" };
  }

  #move(branch: string, sha: string) {
    this.branches.set(branch, sha);
    for (const [iid, one] of this.mergeRequests) {
      if (one.sourceBranch === branch && one.state === "opened") this.mergeRequests.set(iid, { ...one, headSha: sha });
    }
  }
}
