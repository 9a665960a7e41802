import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CodingTask } from "../../src/resources/index.ts";
import type { CoderAnswer } from "../doubles/scripted-coder.ts";
import { AgentWorld, lines } from "./agent-world.ts";

describe("a review", () => {
  it("posts each finding at its line, and one summary", async () => {
    await using world = await AgentWorld.open({
      script: () =>
        finds([
          { path: "app.ts", line: 2, side: "new", severity: "error", message: "not a word" },
          { path: "app.ts", line: 1, side: "new", severity: "info", message: "in the context" },
          { path: "app.ts", line: 2, side: "old", severity: "info", message: "what was there" },
          { path: "app.ts", line: 900, side: "new", severity: "warning", message: "nowhere" },
        ]),
    });

    await world.openMergeRequest();

    const [task] = await world.allEnded();
    expect(task?.status).toMatchObject({ phase: "Completed", result: { comments: 4 } });
    const placed = world.notes().filter(({ position }) => position);
    expect(placed.map(({ position, body }) => [position?.old_line, position?.new_line, body.split("\n")[0]])).toEqual([
      [null, 2, "**[ERROR]** not a word"],
      [1, 1, "**[INFO]** in the context"],
      [2, null, "**[INFO]** what was there"],
    ]);
    expect(world.notes().filter(({ body }) => body.startsWith("`app.ts:900` **[WARNING]** nowhere"))).toHaveLength(1);
    expect(world.summaries().map(({ body }) => body)).toEqual([
      expect.stringContaining("4 findings (1 error, 1 warning, 2 remarks) in "),
    ]);
  });

  it("reads the discussions of its merge request once, and later only newer notes", async () => {
    await using world = await AgentWorld.open({
      script: () => finds([{ path: "app.ts", line: 2, side: "new", severity: "error", message: "not a word" }]),
    });

    await world.openMergeRequest();

    await world.allEnded();
    expect(world.gitlab.requests.count("GET", "/merge_requests/:iid/discussions")).toBe(1);
    expect(world.gitlab.requests.count("GET", "/merge_requests/:iid/notes")).toBe(3);
    expect(world.summaries()[0]?.body).toContain("1 finding (1 error) in ");
  });

  it("posts a comment on a context line of a renamed file inline", async () => {
    await using world = await AgentWorld.open({
      script: () => finds([{ path: "moved.ts", line: 3, side: "new", severity: "info", message: "here" }]),
    });
    await world.gitlab.pushAs(world.root, world.project, "main", { "long.ts": lines(..."abcdefgh") });

    await world.openMergeRequest({ files: { "long.ts": { renameTo: "moved.ts" }, "moved.ts": lines(..."abcdefgX") } });

    await world.allEnded();
    const [finding] = world.notes().filter(({ position }) => position);
    expect(finding?.position).toMatchObject({ old_path: "long.ts", new_path: "moved.ts", old_line: 3, new_line: 3 });
  });

  it("is of the newest commit: a push supersedes it, and the summary is changed in place", async () => {
    await using world = await AgentWorld.open({ script: () => [{ do: "sleep", ms: 300 }] });
    const mr = await world.openMergeRequest();
    await world.allEnded(1);

    await world.gitlab.pushAs(world.kim, world.project, "topic", { "app.ts": lines("one", "22", "three") });
    await world.gitlab.pushAs(world.kim, world.project, "topic", { "app.ts": lines("one", "222", "three") });

    const tasks = await world.allEnded(3);
    const head = mr.versions.at(-1)?.head ?? "";
    const phases = Object.fromEntries(
      tasks.map(({ spec, status }) => [spec.type === "Review" ? spec.mergeRequest.headSha : "", status?.phase]),
    );
    expect(phases[head]).toBe("Completed");
    expect(world.summaries()).toHaveLength(1);
    expect(world.summaries()[0]?.body).toContain(`reviewed=${head}`);
  });

  it("is not posted if the head moves while the coder works, even without a webhook", async () => {
    await using world = await AgentWorld.open({
      script: (folder) => [
        { do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "witness") },
        { do: "answer", value: { summary: "Of the old commit.", findings: [somewhere] } },
      ],
    });
    const mr = await world.openMergeRequest();
    await expect.poll(() => world.witnessed("witness")).toHaveLength(1);
    world.gitlab.webhooks.hold();
    await world.gitlab.pushAs(world.kim, world.project, "topic", { "app.ts": lines("one", "22", "three") });
    const [before, after] = mr.versions.map(({ head }) => head);

    await world.openGate("gate");

    const isOf = (head: string | undefined) => (task: CodingTask) =>
      task.spec.type === "Review" && task.spec.mergeRequest.headSha === head;
    await expect
      .poll(async () => (await world.tasks()).find(isOf(before))?.status, { timeout: 20_000 })
      .toMatchObject({ phase: "Superseded", supersededBy: after });
    // The newer commit is reviewed by a task of its own, and the findings in the older one are not posted.
    await expect
      .poll(async () => (await world.tasks()).find(isOf(after))?.status?.phase, { timeout: 20_000 })
      .toBe("Completed");
    expect(
      world.notes().every(({ body, earlierBodies }) => ![body, ...earlierBodies].join().includes(before ?? "-")),
    ).toBe(true);
    const uid = (await world.tasks()).find(isOf(before))?.metadata.uid;
    expect(world.notes().filter(({ body }) => body.includes(`finding=${uid}`))).toEqual([]);
    world.gitlab.webhooks.release();
  });

  it("leaves one summary of two that a late request created", async () => {
    await using world = await AgentWorld.open();
    const mr = await world.openMergeRequest();
    await world.allEnded(1);
    const earlier = "0123456789".repeat(4);
    await world.gitlab.commentOn(mr, world.bot, `## Code Review Summary\n\n<!-- interlock reviewed=${earlier} -->`);

    await world.gitlab.pushAs(world.kim, world.project, "topic", { "app.ts": lines("one", "22", "three") });

    await world.allEnded(2);
    const [first, second] = mr.versions.map(({ head }) => head);
    expect(world.summaries().map(({ body }) => body.split("\n").at(-1))).toEqual([
      `<!-- interlock reviewed=${second},${first},${earlier} -->`,
    ]);
  });

  it("covers commits that are force-pushed between two reviews, and a commit that is pushed back", async () => {
    await using world = await AgentWorld.open();
    const mr = await world.openMergeRequest();
    const first = mr.versions.at(-1)?.head ?? "";
    await world.allEnded(1);

    await world.gitlab.pushAs(world.kim, world.project, "topic", { "app.ts": lines("other") }, { from: "main" });

    await world.allEnded(2);
    const second = mr.versions.at(-1)?.head ?? "";
    expect(world.summaries()[0]?.body).toContain(`reviewed=${second},${first}`);
  });

  it("is done for a superseded commit that is the head again", async () => {
    await using world = await AgentWorld.open({ agents: 0 });
    const mr = await world.openMergeRequest();
    const first = mr.versions.at(-1)?.head ?? "";
    await world.gitlab.pushAs(world.kim, world.project, "topic", { "app.ts": lines("one", "22", "three") });
    await world.openAgent();
    await world.allEnded(2);
    expect(world.summaries()[0]?.body).not.toContain(first);

    const url = world.project.cloneUrl.replace("://", `://kim:${world.kim.token}@`);
    await world.git("push", "--quiet", "--force", url, `${first}:refs/heads/topic`);

    await expect.poll(async () => (await world.tasks()).length).toBe(3);
    await world.allEnded(3);
    expect(world.summaries()[0]?.body).toContain(`reviewed=${first}`);
  });

  it("is of a fork's commit, although this project has a branch of that name", async () => {
    await using world = await AgentWorld.open({
      env: { GITLAB_FORKS: "always" },
      script: (folder) => [{ do: "echo", file: `${folder}/echo` }],
    });
    const fork = await world.gitlab.addProject({ path: "kim/app", forkOf: world.project });
    await world.gitlab.pushAs(world.kim, world.project, "topic", { "app.ts": lines("not", "this") });
    await world.gitlab.pushAs(world.kim, fork, "topic", { "app.ts": lines("from", "the", "fork") });

    await world.gitlab.openMergeRequest(world.project, {
      ...{ sourceProject: fork, sourceBranch: "topic", title: "from a fork", author: world.kim },
    });

    const [task] = await world.allEnded();
    expect(task?.status?.phase).toBe("Completed");
    const [echo] = await world.witnessed("echo");
    expect(JSON.stringify(echo)).toContain("+fork");
  });

  it("reads more than a hundred discussions before it posts again", async () => {
    await using world = await AgentWorld.open({
      script: () => finds([{ path: "app.ts", line: 2, side: "new", severity: "error", message: "not a word" }]),
    });
    world.gitlab.webhooks.hold();
    const mr = await world.openMergeRequest();
    for (let i = 0; i < 130; i++) await world.gitlab.discuss(mr, world.kim, `thread ${i}`);
    world.gitlab.webhooks.release();
    await world.allEnded(1);

    await world.gitlab.commentOn(mr, world.kim, "/copilot review");

    await expect.poll(async () => (await world.tasks()).length).toBe(3);
    await world.allEnded(3);
    expect(world.summaries()).toHaveLength(1);
  });

  it("is not done for drafts, skipped labels, closed ones, or notes on issues; GitLab always gets a success response", async () => {
    await using world = await AgentWorld.open({ env: { GITLAB_SKIP_LABELS: "no review" } });
    await world.openMergeRequest({ branch: "a", title: "Draft: not yet" });

    world.gitlab.commentElsewhere(world.project, { on: "Issue", user: world.kim, body: "/copilot do it" });
    world.gitlab.runPipeline(world.project, "main");

    await world.gitlab.webhooks.settled();
    expect(await world.tasks()).toEqual([]);
    expect(world.gitlab.webhooks.deliveries.map(({ status }) => status).every((status) => status === 200)).toBe(true);
  });

  it("is done once for a hundred identical webhooks to three gateways", async () => {
    await using world = await AgentWorld.open({ gateways: 3, agents: 3 });
    world.gitlab.webhooks.copies = 100;

    await world.openMergeRequest();

    await world.allEnded(1);
    expect(await world.tasks()).toHaveLength(1);
    expect(world.summaries()).toHaveLength(1);
    expect(world.notes()).toHaveLength(1);
    expect(await world.figure('reviews_total{outcome="Completed"}')).toBe(1);
  });
});

const somewhere = { path: "app.ts", line: 2, side: "new", severity: "error", message: "not a word" } as const;

function finds(findings: NonNullable<CoderAnswer["findings"]>) {
  return [{ do: "answer", value: { summary: "Fine.", findings } }] as const;
}
