import { expect, it } from "vitest";
import { gitlabWebhooks } from "../../src/sources/index.ts";
import { startGitLab } from "../doubles/gitlab/start-gitlab.ts";
import { startReceiver } from "../notify/receiver.ts";

it("webhooks of GitLab become tasks, or are ignored with the right reason", async () => {
  await using gitlab = await startGitLab();
  await using receiver = await startReceiver();
  const [bot, ann] = [gitlab.addUser("interlock"), gitlab.addUser("ann")];
  const project = await gitlab.addProject({ path: "shop/cart", branches: { topic: { "a.txt": "1\n" } } });
  gitlab.webhooks.sendTo([`http://127.0.0.1:${receiver.port}/`], "secret");
  const outcomesAfter = async (happens: () => unknown) => {
    const before = receiver.letters.length;
    await happens();
    await gitlab.webhooks.settled();
    return receiver.letters.slice(before).map(({ body }) => outcomeOf(JSON.parse(body)));
  };

  const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic", title: "Draft: Topic", author: ann });
  await gitlab.webhooks.settled();
  expect(receiver.letters.map(({ body }) => outcomeOf(JSON.parse(body)))).toEqual(["Draft"]);
  expect(await outcomesAfter(() => gitlab.changeMergeRequest(mr, { title: "Topic" }))).toEqual(["Review"]);
  expect(await outcomesAfter(() => gitlab.changeMergeRequest(mr, { title: "The topic" }))).toEqual(["NoNewCommits"]);
  expect(await outcomesAfter(() => gitlab.changeMergeRequest(mr, { labels: ["no-review"] }))).toEqual(["NoNewCommits"]);
  expect(await outcomesAfter(() => gitlab.changeMergeRequest(mr, { labels: [] }))).toEqual(["Review"]);
  const pushed = await outcomesAfter(() => gitlab.pushAs(ann, project, "topic", { "a.txt": "2\n" }));
  expect(pushed.toSorted()).toEqual(["NotHandled", "Review"]);
  expect(await outcomesAfter(() => gitlab.commentOn(mr, ann, "@interlock fix it"))).toEqual(["Command"]);
  expect(await outcomesAfter(() => gitlab.commentOn(mr, bot, "@interlock fix it"))).toEqual(["OwnNote"]);
  const note = await gitlab.commentOn(mr, ann, "hello");
  await gitlab.webhooks.settled();
  expect(await outcomesAfter(() => gitlab.editComment(mr, note, "@interlock fix it"))).toEqual(["EditedNote"]);
  for (const on of ["Issue", "Commit", "Snippet"] as const) {
    const elsewhere = { user: ann, body: "@interlock fix it", on };
    expect(await outcomesAfter(() => gitlab.commentElsewhere(project, elsewhere))).toEqual(["NotHandled"]);
  }
  expect(await outcomesAfter(() => gitlab.runPipeline(project, "topic"))).toEqual(["NotHandled"]);
  expect(await outcomesAfter(() => gitlab.merge(mr))).toEqual(["NotHandled", "NotHandled"]);
});

/** The type of the task, or why there is none. */
function outcomeOf(body: unknown): string {
  const rules = { username: "interlock", reviewDrafts: false, skipLabels: ["no-review"] };
  const { outcome } = gitlabWebhooks({ host: "gitlab.example.com", ...rules }).read(body, "2026-11-15T06:05:00.000Z");
  return outcome.kind === "task" ? outcome.draft.type : outcome.reason;
}
