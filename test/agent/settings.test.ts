import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { namespaces } from "../../src/kube/index.ts";
import { reporter } from "../doubles/gitlab/model.ts";
import type { CoderStep } from "../doubles/scripted-coder.ts";
import { AgentWorld } from "./agent-world.ts";

// Those of the pollers, of webhooks and of the coder itself are in polling/settings.test.ts,
// ../gateway/webhooks.test.ts and coder/open-coder.test.ts.
describe("the setting", () => {
  let world: AgentWorld;

  afterEach(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  it("agent.namespace: the namespace of tasks", async () => {
    const polling = { GITLAB_POLL: "true", GITLAB_PROJECTS: "group/app", GITLAB_POLL_FROM: "1h" };
    world = await AgentWorld.open({
      ...{ gateways: 0, agents: 0, env: { ...polling, GITLAB_POLL_INTERVAL: "1s" } },
      yaml: "agent:\n  namespace: elsewhere\n",
    });
    const { apiVersion, kind } = namespaces;
    await world.client.create(namespaces, { apiVersion, kind, metadata: { name: "elsewhere" } });
    // The shipped roles are for the usual namespace.
    await world.openAgent({ client: world.client });

    await world.openMergeRequest();

    const [task] = await world.allEnded();
    expect(task).toMatchObject({ metadata: { namespace: "elsewhere" }, status: { phase: "Completed" } });
  });

  it("agent.concurrency: the number of running tasks", async () => {
    world = await AgentWorld.open({
      env: { AGENT_CONCURRENCY: "1" },
      script: (folder) => [{ do: "sleep", ms: 300, witness: join(folder, "witness") }],
    });

    await world.openMergeRequest({ branch: "one" });
    await world.openMergeRequest({ branch: "two" });

    await world.allEnded(2);
    expect((await world.witnessed("witness")).map(({ event }) => event)).toEqual(["begin", "end", "begin", "end"]);
  });

  it("agent.maxAttempts: the number of attempts", async () => {
    world = await AgentWorld.open({ env: { AGENT_MAX_ATTEMPTS: "2" }, script: fails });

    await world.openMergeRequest();

    expect((await world.allEnded())[0]?.status).toMatchObject({ phase: "Failed", attempts: 2 });
    expect(await world.witnessed("tries")).toHaveLength(2);
  });

  it.each([
    ["base", "    base: 1h\n    max: 2h\n", 60],
    ["max", "    base: 1h\n    max: 10m\n", 10],
  ])("agent.backoff.%s: the delay of the next attempt", async (_name, yaml, minutes) => {
    world = await AgentWorld.open({ yaml: `agent:\n  backoff:\n${yaml}`, script: fails });

    await world.openMergeRequest();

    const next = async () =>
      (await world.tasks()).map(({ status }) => (status?.phase === "Waiting" ? status.nextAttemptTime : undefined));
    await expect.poll(next).toEqual([expect.any(String)]);
    const [nextAttemptTime = ""] = await next();
    const inMinutes = (Date.parse(nextAttemptTime) - world.clock.wallMs()) / 60_000;
    expect(inMinutes).toBeGreaterThan(0.7 * minutes);
    expect(inMinutes).toBeLessThan(1.3 * minutes);
  });

  it("agent.author: the author of commits", async () => {
    world = await AgentWorld.open({
      yaml: "agent:\n  author:\n    name: Robin\n    email: robin@example.com\n",
      script: edits,
    });
    const mr = await world.openMergeRequest();

    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    await world.allEnded(2);
    expect(await world.git("log", "-1", "--format=%an <%ae>", "topic")).toBe("Robin <robin@example.com>\n");
  });

  it.each([
    ["AGENT_DRAFT_MERGE_REQUESTS", "true", "Draft: feat(APP-1): Do it"],
    ["AGENT_DRAFT_MERGE_REQUESTS", "false", "feat(APP-1): Do it"],
  ])("%s=%s: whether merge requests for issues start as drafts", async (name, value, title) => {
    world = await AgentWorld.open({ jira: true, gateways: 0, env: { [name]: value }, script: edits });

    world.jira.addIssue(world.issues, { summary: "Do it" });

    await world.allEnded();
    expect(world.gitlab.whatHappened().mergeRequests.map((mr) => mr.title)).toEqual([title]);
  });

  it.each([
    [
      "jira.triggerStatus, jira.inProgressStatus and jira.inReviewStatus",
      { JIRA_TRIGGER_STATUS: "In Progress", JIRA_IN_PROGRESS_STATUS: "In Review", JIRA_IN_REVIEW_STATUS: "Done" },
    ],
    [
      "jira.projects, with their own statuses",
      { JIRA_PROJECT_MAP: "APP -> group/app, trigger=In Progress, inProgress=In Review, inReview=Done" },
    ],
  ])("%s: the statuses of issues", async (_name, env) => {
    world = await AgentWorld.open({ jira: true, gateways: 0, env, script: edits });

    world.jira.addIssue(world.issues, { summary: "Do it", status: "In Progress" });

    await world.allEnded();
    expect(world.jira.whatHappened().transitions.map(({ to }) => to)).toEqual(["In Review", "Done"]);
  });

  it.each([
    ["jira.email", { JIRA_EMAIL: "somebody@example.com" }],
    ["jira.apiToken", { JIRA_API_TOKEN: "no-good" }],
  ])("%s: the credentials for Jira", async (_name, env) => {
    world = await AgentWorld.open({ jira: true, gateways: 0, env });

    const refused = () => world.log.events.filter(({ event }) => event === "project poll failed").length;
    await expect.poll(refused).toBeGreaterThan(0);
  });

  it("gitlab.tokenFile: the token, which may be replaced", async () => {
    world = await AgentWorld.open({ agents: 0 });
    const file = join(world.directory, "token");
    await writeFile(file, `${world.bot.token}\n`);
    await world.openAgent({ env: { GITLAB_TOKEN: "", GITLAB_TOKEN_FILE: file } });
    await world.openMergeRequest({ branch: "before" });
    await world.allEnded();

    await writeFile(file, world.gitlab.addToken(world.bot, "api"));
    world.gitlab.revokeToken(world.bot.token);
    await world.openMergeRequest({ branch: "after" });

    expect((await world.allEnded(2)).map(({ status }) => status?.phase)).toEqual(["Completed", "Completed"]);
  });

  it("jira.apiTokenFile: the token, which may be replaced", async () => {
    world = await AgentWorld.open({ jira: true, gateways: 0, agents: 0, script: edits });
    const file = join(world.directory, "token");
    await writeFile(file, `${world.jiraBot.token}\n`);
    await world.openAgent({ env: { JIRA_API_TOKEN: "", JIRA_API_TOKEN_FILE: file } });
    world.jira.addIssue(world.issues, { summary: "Do it" });
    await world.allEnded();

    await writeFile(file, "another-token-of-jira");
    Object.assign(world.jiraBot, { token: "another-token-of-jira" });
    world.jira.addIssue(world.issues, { summary: "Do more" });

    expect((await world.allEnded(2)).map(({ status }) => status?.phase)).toEqual(["Completed", "Completed"]);
  });

  it.each([
    ["gitlab", "GITLAB_TOKEN", /^GitLab responded 401 to GET user: .*; replace gitlab\.token/],
    ["jira", "JIRA_API_TOKEN", /^Jira responded 401 to GET myself.*; replace jira\.apiToken/],
  ])("%s: a wrong %s is logged when the agent starts", async (server, name, message) => {
    world = await AgentWorld.open({ jira: true, gateways: 0, agents: 0 });

    await world.openAgent({ env: { [name]: "wrong-token" } });

    await expect
      .poll(() => world?.log.events)
      .toContainEqual({
        level: "warn",
        event: "account check failed",
        fields: { server, error: expect.objectContaining({ message: expect.stringMatching(message) }) },
      });
  });

  it.each(["GITLAB_TOKEN", "JIRA_API_TOKEN"])("%s_FILE: must exist when the agent starts", async (name) => {
    world = await AgentWorld.open({ jira: true, gateways: 0, agents: 0 });
    const file = join(world.directory, "nowhere");

    const opening = world.openAgent({ env: { [name]: "", [`${name}_FILE`]: file } });

    await expect(opening).rejects.toThrow(`${file} cannot be read (ENOENT)`);
  });

  it("gitlab.minAccessLevel: the access for commands", async () => {
    world = await AgentWorld.open({ env: { GITLAB_MIN_ACCESS_LEVEL: "reporter" }, script: edits });
    const mr = await world.openMergeRequest();
    const visitor = world.gitlab.addUser("visitor");
    world.gitlab.setMember(world.project, visitor, reporter);

    await world.gitlab.commentOn(mr, visitor, "/copilot add the file");

    await world.allEnded(2);
    expect(world.pushes()).toHaveLength(1);
  });
});

function edits(): CoderStep[] {
  return [{ do: "write", path: "added.txt", text: "done\n" }];
}

function fails(folder: string): CoderStep[] {
  return [
    { do: "echo", file: join(folder, "tries") },
    { do: "exit", code: 1 },
  ];
}
