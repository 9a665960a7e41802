import { describe, expect, it } from "vitest";
import type { Discussion, GitLab, MergeRequest } from "../gitlab/gitlab.ts";
import type { ReviewAttempt } from "../work/attempt.ts";
import { Conversation } from "../work/conversation.ts";
import { runReview } from "./review.ts";

const [first, second] = ["a".repeat(40), "b".repeat(40)];

describe("a review whose merge request changes while the coder reads it", () => {
  it("posts nothing if the head moved, and creates a review of the new head", async () => {
    const world = attempt({ headSha: second });

    const end = await runReview(world.attempt);

    expect(end).toMatchObject({ kind: "superseded", by: second });
    expect(world.posted).toEqual([]);
    expect(world.created).toEqual([`review:gitlab.example.com:42:7:${second}`]);
  });

  it("posts nothing if it is closed", async () => {
    const world = attempt({ state: "closed" });

    const end = await runReview(world.attempt);

    expect(end).toEqual({ kind: "completed", message: "not reviewed: the merge request is closed" });
    expect(world.posted).toEqual([]);
  });

  it("posts nothing if its author is removed", async () => {
    const world = attempt({}, { levelAfter: 0 });

    const end = await runReview(world.attempt);

    expect(end).toMatchObject({ kind: "cancelled", reason: "NotAMember" });
    expect(world.posted).toEqual([]);
  });

  it("posts the findings if nothing changed", async () => {
    const world = attempt({});

    const end = await runReview(world.attempt);

    expect(end).toMatchObject({ kind: "completed", message: "reviewed, 1 finding" });
    expect(world.posted).toHaveLength(2);
  });
});

/** One attempt; `changed` is what is different once the coder has answered. */
function attempt(changed: Partial<MergeRequest>, { levelAfter = 30 } = {}) {
  const posted: string[] = [];
  const created: string[] = [];
  const discussions: Discussion[] = [];
  const steps = new Map<string, Record<string, string>>();
  let isAnswered = false;
  const before: MergeRequest = {
    ...{ projectId: 42, iid: 7, title: "topic", description: "", state: "opened", draft: false, labels: [] },
    ...{ author: { id: 1, username: "kim" }, sourceBranch: "topic", targetBranch: "main", sourceProjectId: 42 },
    ...{
      headSha: first,
      webUrl: "https://gitlab.example.com/app/-/merge_requests/7",
      updatedAt: "2026-11-15T06:00:00Z",
    },
  };
  const note = (body: string) => {
    posted.push(body);
    const made = {
      id: posted.length,
      body,
      author: { id: 99, username: "bot" },
      system: false,
      internal: false,
      createdAt: "2026-11-15T06:00:00Z",
    };
    discussions.push({ id: String(made.id), notes: [made] });
    return made;
  };
  const fake = {
    spec: {
      ...{ type: "Review", project: { host: "gitlab.example.com", id: 42, path: "group/app" }, source: "webhook" },
      ...{
        claimKey: "review",
        targetResource: "git:gitlab.example.com/42@topic",
        receivedTime: "2026-11-15T06:00:00Z",
      },
      mergeRequest: { iid: 7, headSha: first, sourceBranch: "topic", targetBranch: "main" },
    },
    uid: "uid",
    settings: { namespace: "default", minAccessLevel: 30, forks: "onRequest" },
    signal: new AbortController().signal,
    progress: {
      task: {},
      resultOf: (name: string) => steps.get(name),
      record: async (name: string, result: Record<string, string>) => void steps.set(name, result),
      step: async (_name: string, work: () => Promise<Record<string, string>>) => work(),
    },
    intake: {
      now: () => "2026-11-15T06:00:00Z",
      async create({ claimKey }: { claimKey: string }) {
        created.push(claimKey);
        return { kind: "created" };
      },
    },
    gitlab: {
      self: async () => ({ id: 99, username: "bot" }),
      accessLevel: async () => (isAnswered ? levelAfter : 30),
      project: async () => ({ id: 42, path: "group/app", webUrl: "", cloneUrl: "", defaultBranch: "main" }),
      mergeRequest: async () => (isAnswered ? { ...before, ...changed } : before),
      discussions: async () => discussions,
      notesSince: async () => discussions.flatMap(({ notes }) => notes),
      changes: async () => ({ refs: { baseSha: first, startSha: first, headSha: first }, createdAt: "", files: [] }),
      addNote: async (_place: unknown, body: string) => note(body),
    },
    coder: {
      async run() {
        isAnswered = true;
        const finding = { path: "a.ts", line: 1, side: "new", severity: "info", message: "look" };
        return { kind: "reviewed", summary: "Fine.", findings: [finding] };
      },
    },
  };
  const gitlab = fake.gitlab as unknown as GitLab;
  const conversation = new Conversation(gitlab, { projectId: 42, iid: 7 });
  return { attempt: { ...fake, conversation } as unknown as ReviewAttempt, posted, created };
}
