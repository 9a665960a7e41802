import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { draftTask, type TaskDraft } from "../../tasks/index.ts";
import { type GitLabWebhookOptions, gitlabWebhooks } from "./gitlab-webhooks.ts";
import { time } from "./payload.ts";

const receivedAt = "2026-11-15T06:05:00.000Z";
const sha = "da1560886d4f094c3e6c9ef40349f7d38b5d27d7";
const host = "gitlab.example.com";

describe("the event of a merge request", () => {
  it.each([
    ["is opened", { action: "open" }],
    ["is reopened", { action: "reopen" }],
    ["gets new commits", { action: "update", oldrev: "e59094b8de0f2f91abbe4760a52d9137260252d8" }],
  ])("is a review when it %s", (_what, attributes) => {
    expect(draftOf(mergeRequestEvent(attributes))).toEqual({
      type: "Review",
      project: { host, id: 5, path: "group/app" },
      claimKey: `review:${host}:5:7:${sha}`,
      source: "webhook",
      requestedBy: "ada",
      receivedTime: receivedAt,
      mergeRequest: { iid: 7, headSha: sha, sourceBranch: "topic", targetBranch: "main" },
    });
  });

  it("is a review when it is no longer a draft, or loses a label to skip", () => {
    const ready = {
      ...mergeRequestEvent({ action: "update" }),
      changes: { draft: { previous: true, current: false } },
    };
    const labels = { previous: [{ title: "No-Review" }], current: [] };
    const unlabelled = { ...mergeRequestEvent({ action: "update" }), changes: { labels } };

    expect(draftOf(ready).type).toBe("Review");
    expect(draftOf(unlabelled, { skipLabels: ["no-review"] }).type).toBe("Review");
    expect(reasonOf(unlabelled)).toBe("NoNewCommits");
  });

  it("is a review when it gets a required label", () => {
    const labels = { previous: [], current: [{ title: "Review-Me" }] };
    const event = { ...mergeRequestEvent({ action: "update", labels: labels.current }), changes: { labels } };
    const others = { previous: [{ title: "review-me" }], current: [{ title: "review-me" }, { title: "other" }] };
    const again = { ...mergeRequestEvent({ action: "update", labels: others.current }), changes: { labels: others } };

    expect(draftOf(event, { requiredLabels: ["review-me"] }).type).toBe("Review");
    expect(reasonOf(again, { requiredLabels: ["review-me"] })).toBe("NoNewCommits");
  });

  it("contains the fork of its source branch", () => {
    const draft = draftOf(mergeRequestEvent({ source_project_id: 99 }));

    expect(draft).toMatchObject({ mergeRequest: { sourceProjectId: 99 }, project: { id: 5 } });
    const task = draftTask(draft, "ns");
    expect(task).not.toEqual(draftTask(draftOf(mergeRequestEvent()), "ns"));
  });

  it.each([
    ["Draft", { draft: true }, {}],
    ["Draft", { draft: undefined, work_in_progress: true }, {}],
    ["Label", { labels: [{ title: "No-Review" }] }, { skipLabels: ["no-review"] }],
    ["LabelMissing", { labels: [{ title: "other" }] }, { requiredLabels: ["review-me"] }],
    ["NotOpen", { state: "closed" }, {}],
    ["NotOpen", { state: "merged" }, {}],
    ["NoCommit", { last_commit: null }, {}],
    ["NoCommit", { last_commit: { id: "" } }, {}],
    ["NoNewCommits", { action: "update" }, {}],
    ["NotHandled", { action: "close" }, {}],
    ["NotHandled", { action: "approved" }, {}],
    ["NotHandled", { action: undefined }, {}],
    ["Unreadable", { iid: "7" }, {}],
    ["Unreadable", { source_branch: null }, {}],
    ["ProjectNotAllowed", {}, { projects: ["group/other", "6"] }],
  ])("is ignored as %s when it has %j", (reason, attributes, options) => {
    expect(reasonOf(mergeRequestEvent(attributes), options)).toBe(reason);
  });

  it.each([[["GROUP/App"]], [["5"]], [["x/y", "group/app"]]])("is handled in one of the projects %j", (projects) => {
    expect(draftOf(mergeRequestEvent(), { projects }).type).toBe("Review");
  });

  it("is a review of a draft where drafts are reviewed", () => {
    expect(draftOf(mergeRequestEvent({ draft: true }), { reviewDrafts: true }).type).toBe("Review");
  });
});

describe("the event of a comment", () => {
  it("is a command", () => {
    expect(draftOf(noteEvent())).toEqual({
      type: "Command",
      project: { host, id: 5, path: "group/app" },
      claimKey: `note:${host}:5:7:1244`,
      source: "webhook",
      requestedBy: "ada",
      receivedTime: receivedAt,
      mergeRequest: { iid: 7, headSha: sha, sourceBranch: "topic", targetBranch: "main" },
      note: { id: 1244, discussionId: "d1", authorId: 3, body: "/copilot fix it", verb: "do", instruction: "fix it" },
    });
  });

  it("may mention the agent instead", () => {
    expect(draftOf(noteEvent({ note: "@bot status" }), { username: "bot" })).toMatchObject({
      note: { verb: "status" },
    });
  });

  it("is cut to the maximum length, between characters", () => {
    const { note } = draftOf(noteEvent({ note: `/copilot ${"😀".repeat(50_000)}` })) as Extract<
      TaskDraft,
      { type: "Command" }
    >;

    expect(note.body).toHaveLength(65_536);
    expect(note.body).not.toMatch(/\p{Surrogate}/u);
  });

  it.each([
    ["NotHandled", { noteable_type: "Issue" }],
    ["NotHandled", { noteable_type: "Commit" }],
    ["SystemNote", { system: true }],
    ["OwnNote", { note: "@bot fix it" }, { username: "ADA" }],
    ["EditedNote", { action: "update" }],
    ["EditedNote", { action: undefined, created_at: "2026-11-15 06:00:00 UTC", updated_at: "2026-11-15 06:01:00 UTC" }],
    [
      "EditedNote",
      { action: undefined, created_at: "2026-11-15T08:00:00+02:00", updated_at: "2026-11-15 06:01:00 UTC" },
    ],
    ["NotForUs", { note: "looks good" }],
    ["NotForUs", { note: "/copilot done <!-- interlock answer=1 -->" }],
    ["Unreadable", { id: null }],
    ["Unreadable", { note: 5 }],
  ])("is ignored as %s when it has %j", (reason, attributes, options: Partial<GitLabWebhookOptions> = {}) => {
    expect(reasonOf(noteEvent(attributes), options)).toBe(reason);
  });

  it.each([
    [{ action: undefined }],
    [{ action: undefined, created_at: "2026-11-15T08:00:00.000+02:00", updated_at: "2026-11-15 06:00:00 UTC" }],
  ])("is new on servers that do not mark new comments: %j", (attributes) => {
    expect(draftOf(noteEvent(attributes)).type).toBe("Command");
  });

  it("is ignored without a commit", () => {
    const event = noteEvent();
    const without = { ...event, merge_request: { ...event.merge_request, last_commit: null } };

    expect(reasonOf(without)).toBe("NoCommit");
    expect(reasonOf({ ...event, merge_request: undefined })).toBe("Unreadable");
  });
});

describe("any other payload", () => {
  it.each([null, 5, "text", [], {}, { object_kind: "push" }, { object_kind: 7 }])("is ignored: %j", (body) => {
    expect(gitlabWebhooks(optionsWith({})).read(body, receivedAt)).toMatchObject({
      object: "other",
      outcome: { kind: "ignored", reason: "NotHandled" },
    });
  });

  it("never throws, with any field missing or of another type", () => {
    const odd = fc.constantFrom(undefined, null, 0, -1, 1.5, "", "x", [], {}, [null], true, Number.MAX_VALUE);
    const events = fc.constantFrom<object>(mergeRequestEvent(), noteEvent());
    fc.assert(
      fc.property(events, fc.nat(), fc.array(odd, { minLength: 1, maxLength: 3 }), (event, at, values) => {
        const body = changed(event, at, values);
        const { outcome } = gitlabWebhooks(optionsWith({ username: "bot" })).read(body, receivedAt);
        if (outcome.kind === "task") draftTask(outcome.draft, "ns");
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a time of GitLab", () => {
  it.each([
    ["2026-11-15 06:05:00 UTC", "2026-11-15T06:05:00.000Z"],
    ["2026-11-15T06:05:00.123Z", "2026-11-15T06:05:00.123Z"],
    ["2026-11-15T08:05:00+02:00", "2026-11-15T06:05:00.000Z"],
    ["2026-11-15 08:05:00 +0200", "2026-11-15T06:05:00.000Z"],
  ])("may be written %s", (text, iso) => {
    expect(new Date(time.parse(text) ?? 0).toISOString()).toBe(iso);
  });

  it.each(["", "today", "2026-11-15", "2026-99-15 06:05:00 UTC", 5, null])("is undefined for %j", (text) => {
    expect(time.parse(text)).toBeUndefined();
  });
});

function draftOf(body: unknown, options: Partial<GitLabWebhookOptions> = {}): TaskDraft {
  const { outcome } = gitlabWebhooks(optionsWith(options)).read(body, receivedAt);
  if (outcome.kind === "ignored") throw new Error(`it was ignored: ${outcome.because}`);
  return outcome.draft;
}

function reasonOf(body: unknown, options: Partial<GitLabWebhookOptions> = {}): string {
  const { outcome } = gitlabWebhooks(optionsWith(options)).read(body, receivedAt);
  return outcome.kind === "ignored" ? outcome.reason : "it was not ignored";
}

function optionsWith(options: Partial<GitLabWebhookOptions>): GitLabWebhookOptions {
  return { host, reviewDrafts: false, skipLabels: [], ...options };
}

const envelope = {
  user: { id: 3, name: "Ada", username: "ada" },
  project: { id: 5, path_with_namespace: "group/app", web_url: "https://gitlab.example.com/group/app" },
};
const mergeRequest = {
  id: 99,
  iid: 7,
  title: "Topic",
  state: "opened",
  draft: false,
  labels: [],
  source_branch: "topic",
  target_branch: "main",
  source_project_id: 5,
  target_project_id: 5,
  last_commit: { id: sha, message: "m", timestamp: "2026-11-15T06:00:00+00:00" },
};

function mergeRequestEvent(attributes: object = {}) {
  return {
    object_kind: "merge_request",
    event_type: "merge_request",
    ...envelope,
    object_attributes: { ...mergeRequest, action: "open", ...attributes },
    labels: [],
    changes: {},
  };
}

function noteEvent(attributes: object = {}) {
  const note = { id: 1244, note: "/copilot fix it", noteable_type: "MergeRequest", author_id: 3, discussion_id: "d1" };
  return {
    object_kind: "note",
    event_type: "note",
    ...envelope,
    object_attributes: { ...note, system: false, action: "create", ...attributes },
    merge_request: mergeRequest,
  };
}

/** The event with some of its parts replaced. */
function changed(event: object, at: number, values: readonly unknown[]): unknown {
  const paths: string[][] = [];
  const collect = (value: unknown, path: string[]) => {
    if (path.length > 0) paths.push(path);
    if (typeof value === "object" && value)
      for (const [name, one] of Object.entries(value)) collect(one, [...path, name]);
  };
  collect(event, []);
  const copy = structuredClone(event) as Record<string, unknown>;
  for (const [i, value] of values.entries()) {
    const path = paths[(at + i * 7) % paths.length] ?? [];
    let place: Record<string, unknown> | undefined = copy;
    for (const name of path.slice(0, -1)) {
      const next: unknown = place?.[name];
      place = typeof next === "object" && next ? (next as Record<string, unknown>) : undefined;
    }
    if (place) place[path.at(-1) ?? ""] = value;
  }
  return copy;
}
