import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Receiver, startReceiver } from "../../notify/receiver.ts";
import type { Project, User } from "./model.ts";
import { type GitLabDouble, startGitLab } from "./start-gitlab.ts";

let gitlab: GitLabDouble;
let receiver: Receiver;
let ann: User;
let project: Project;

beforeEach(async () => {
  gitlab = await startGitLab();
  receiver = await startReceiver();
  ann = gitlab.addUser("ann");
  project = await gitlab.addProject({ path: "shop/cart" });
  gitlab.webhooks.sendTo([`http://127.0.0.1:${receiver.port}/hook`], "secret");
});
afterEach(async () => {
  await gitlab.close();
  await receiver[Symbol.asyncDispose]();
});

describe("webhooks", () => {
  it("report merge requests, pushes and notes as they happen", async () => {
    await gitlab.pushAs(ann, project, "topic", { "a.txt": "1\n" });
    const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic", author: ann });
    const before = mr.versions[0]?.head;
    const after = await gitlab.pushAs(ann, project, "topic", { "a.txt": "2\n" });
    const note = await gitlab.commentOn(mr, ann, "hello");
    await gitlab.editComment(mr, note, "goodbye");
    await gitlab.webhooks.settled();

    const [opened] = sentHooks("Merge Request Hook", "open");
    expect(opened).toMatchObject({
      object_kind: "merge_request",
      user: { username: "ann" },
      project: { id: project.id, path_with_namespace: "shop/cart", git_http_url: project.cloneUrl },
      object_attributes: { iid: 1, source_branch: "topic", last_commit: { id: before } },
    });
    expect(opened.object_attributes.updated_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    expect(opened.object_attributes).not.toHaveProperty("oldrev");
    const [updated] = sentHooks("Merge Request Hook", "update");
    expect(updated.object_attributes).toMatchObject({ oldrev: before, last_commit: { id: after } });
    expect(sentHooks("Push Hook")).toHaveLength(2);
    const [created] = sentHooks("Note Hook", "create");
    expect(created).toMatchObject({
      object_attributes: { id: note.id, note: "hello", noteable_type: "MergeRequest", system: false },
      merge_request: { iid: 1, state: "opened", last_commit: { id: after } },
    });
    expect(sentHooks("Note Hook", "update")[0].object_attributes.note).toBe("goodbye");
  });

  it("report unrelated events as well", async () => {
    for (const on of ["Issue", "Commit", "Snippet"] as const) {
      gitlab.commentElsewhere(project, { user: ann, body: "x", on });
    }
    gitlab.commentElsewhere(project, { user: ann, body: "x", on: "Issue", isConfidential: true });
    gitlab.runPipeline(project, "main");
    gitlab.webhooks.sendRaw("Note Hook", "{not json");
    await gitlab.webhooks.settled();

    const notes = receiver.letters.filter(({ headers }) => headers["x-gitlab-event"] === "Note Hook");
    const bodies = notes.map(({ body }) => body).filter((body) => body !== "{not json");
    const subjects = bodies.map((body) =>
      ["issue", "commit", "snippet"].filter((subject) => subject in JSON.parse(body)),
    );
    expect(notes).toHaveLength(4);
    expect(subjects.toSorted()).toEqual([["commit"], ["issue"], ["snippet"]]);
    expect(sentHooks("Confidential Note Hook")).toMatchObject([{ event_type: "confidential_note", issue: { iid: 1 } }]);
    expect(sentHooks("Pipeline Hook")).toHaveLength(1);
  });

  it("carry GitLab's headers, and one key for every try and copy", async () => {
    receiver.answers = [500, 200];
    gitlab.webhooks.retries = 1;
    gitlab.webhooks.copies = 2;
    gitlab.runPipeline(project, "main");
    await gitlab.webhooks.settled();

    expect(receiver.letters).toHaveLength(3);
    const keys = new Set(receiver.letters.map(({ headers }) => headers["idempotency-key"]));
    expect(keys.size).toBe(1);
    expect(receiver.letters[0]?.headers).toMatchObject({
      "content-type": "application/json",
      "x-gitlab-event": "Pipeline Hook",
      "x-gitlab-token": "secret",
      "x-gitlab-instance": gitlab.url,
      "x-gitlab-event-uuid": expect.stringMatching(/-/),
      "x-gitlab-webhook-uuid": expect.stringMatching(/-/),
    });
  });

  it("are held back and come the other way round on demand", async () => {
    gitlab.webhooks.hold();
    gitlab.runPipeline(project, "one");
    gitlab.runPipeline(project, "two");
    await gitlab.webhooks.settled();
    expect(receiver.letters).toHaveLength(0);

    gitlab.webhooks.release("reversed");
    await gitlab.webhooks.settled();
    expect(gitlab.webhooks.deliveries.map(({ body }) => JSON.parse(body).object_attributes.ref).toSorted()).toEqual([
      "one",
      "two",
    ]);
  });

  it("rest after four failures in a row, and end after four refusals", async () => {
    gitlab.webhooks.disablesFailing = true;
    receiver.answers = [500];
    await sendPipelines(4);
    expect(gitlab.webhooks.disabled).toHaveLength(1);
    await sendPipelines(1);
    expect(receiver.letters).toHaveLength(4);

    gitlab.time.advance(60_000);
    receiver.answers = [200];
    await sendPipelines(1);
    receiver.answers = [404];
    await sendPipelines(4);
    gitlab.time.advance(48 * 3_600_000);
    expect(gitlab.webhooks.disabled).toHaveLength(1);
    await sendPipelines(1);
    expect(receiver.letters).toHaveLength(9);
  });

  it("go to each URL, or in turn as behind a balancer", async () => {
    await using second = await startReceiver();
    const urls = [receiver, second].map(({ port }) => `http://127.0.0.1:${port}/hook`);
    gitlab.webhooks.stopSending();
    gitlab.webhooks.sendTo(urls, "secret", { spread: "in turn" });
    await sendPipelines(4);
    expect([receiver.letters.length, second.letters.length]).toEqual([2, 2]);
    gitlab.webhooks.stopSending();
    gitlab.webhooks.sendTo(urls, "secret");
    await sendPipelines(1);
    expect([receiver.letters.length, second.letters.length]).toEqual([3, 3]);
  });
});

async function sendPipelines(times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    gitlab.runPipeline(project, "main");
    await gitlab.webhooks.settled();
  }
}

function sentHooks(hook: string, action?: string) {
  const letters = receiver.letters.filter(({ headers }) => headers["x-gitlab-event"] === hook);
  const bodies = letters.map(({ body }) => JSON.parse(body));
  return action === undefined ? bodies : bodies.filter((body) => body.object_attributes.action === action);
}
