import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Jira, type JiraHttpOptions, jiraHttp } from "../../src/agent/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import type { JiraProject, JiraUser } from "../doubles/jira/model.ts";
import { type JiraDouble, startJira } from "../doubles/jira/start-jira.ts";

let server: JiraDouble;
let bot: JiraUser;
let jira: Jira;
let projects = 0;

beforeAll(async () => {
  server = await startJira();
  bot = server.addUser("bot");
  jira = client();
});

afterEach(() => server.faults.clear());

afterAll(() => server.close());

describe("our account", () => {
  it("is looked up", async () => {
    expect(await jira.self()).toBe(bot.accountId);
    expect(jira.site).toBe(new URL(server.url).host);
  });

  it("is denied with a bad token, which is not repeated", async () => {
    const error = await client({ token: async () => "wrong-token" })
      .self()
      .catch((caught) => caught);

    expect(error).toMatchObject({ name: "RemoteError", kind: "denied", status: 401 });
    expect(error.message).not.toContain("wrong-token");
  });
});

describe("issues", () => {
  it("are found by project and status", async () => {
    const [project, other] = [newProject(), newProject()];
    for (const status of ["To Do", "Done"]) server.addIssue(project, { summary: status, status });
    server.addIssue(other, { summary: "elsewhere", status: "Done" });

    const found = await jira.issuesIn(project.key, "Done");

    expect(found.map(({ key }) => key)).toEqual([`${project.key}-2`]);
  });

  it("are found on all pages, the longest unchanged first", async () => {
    const project = newProject();
    for (let i = 0; i < 101; i++) server.addIssue(project, { summary: `${i}` });

    const found = await jira.issuesIn(project.key, "To Do");

    expect(found).toHaveLength(101);
    expect(new Set(found.map(({ key }) => key)).size).toBe(101);
    expect(found[0]?.updatedAt).toMatch(/^\d{4}-.*Z$/);
  });

  it("have their description in Markdown, and the time at which they entered their status", async () => {
    server.time.offsetMinutes = 120;
    const project = newProject();
    const issue = server.addIssue(project, { summary: "Do it", description: "first\n\nsecond" });
    const created = (await jira.issue(issue.key)).statusSince;
    server.time.advance(60_000);
    server.moveAs(server.root, issue, "In Progress");
    server.time.advance(60_000);
    server.moveAs(server.root, issue, "To Do");

    const read = await jira.issue(issue.key);

    expect(read).toMatchObject({
      key: issue.key,
      summary: "Do it",
      status: "To Do",
      webUrl: `${server.url}/browse/${issue.key}`,
      reporter: "root",
    });
    expect(read.description).toMatch(/^first\s+second$/);
    expect(created).toBe(new Date(issue.createdMs).toISOString());
    expect(Date.parse(read.statusSince) - issue.createdMs).toBeGreaterThanOrEqual(120_000);
  });

  it("have the time of their last move to the status, after any number of moves", async () => {
    const project = newProject();
    const issue = server.addIssue(project, { summary: "Back and forth" });
    for (let i = 0; i < 60; i++) {
      server.moveAs(server.root, issue, "In Progress");
      server.time.advance(1_000);
      server.moveAs(server.root, issue, "To Do");
    }

    const { statusSince } = await jira.issue(issue.key);

    expect(statusSince).toBe(new Date(issue.moves.at(-1)?.atMs ?? 0).toISOString());
  });

  it("are an error `missing` if they do not exist", async () => {
    await expect(jira.issue("NO-1")).rejects.toMatchObject({ kind: "missing" });
  });
});

describe("a move", () => {
  it("is done by the target status, whatever the transition is called", async () => {
    const project = newProject();
    const issue = server.addIssue(project, { summary: "x" });

    expect(await jira.moveTo(issue.key, "in progress")).toEqual({ kind: "moved" });
    expect(await jira.moveTo(issue.key, "In Progress")).toEqual({ kind: "moved" });

    expect(issue.status).toBe("In Progress");
    expect(issue.moves).toHaveLength(1);
  });

  it("without a transition is impossible, and lists the reachable statuses", async () => {
    const issue = server.addIssue(newProject(), { summary: "x" });

    expect(await jira.moveTo(issue.key, "Nirvana")).toMatchObject({
      kind: "impossible",
      from: "To Do",
      reachable: expect.arrayContaining(["In Progress"]),
    });
  });

  it("succeeds if another client was first, or if the response was lost", async () => {
    const project = newProject();
    const [one, other] = [server.addIssue(project, { summary: "1" }), server.addIssue(project, { summary: "2" })];
    server.faults.before({ method: "POST", path: "/transitions" }, () =>
      server.moveAs(server.root, one, "In Progress"),
    );

    expect(await jira.moveTo(one.key, "In Progress")).toEqual({ kind: "moved" });
    server.faults.loseReply({ method: "POST", path: "/transitions" });
    await expect(jira.moveTo(other.key, "In Progress")).rejects.toMatchObject({ kind: "unavailable" });
    expect(await jira.moveTo(other.key, "In Progress")).toEqual({ kind: "moved" });

    expect(one.moves).toHaveLength(1);
    expect(other.moves).toHaveLength(1);
  });

  it("is refused if another client moves the issue elsewhere", async () => {
    const issue = server.addIssue(newProject(), { summary: "x" });
    server.faults.failNext({ method: "POST", path: "/transitions", status: 400, body: { errorMessages: ["no"] } });

    await expect(jira.moveTo(issue.key, "In Progress")).rejects.toMatchObject({ kind: "refused", message: /no/ });
  });
});

describe("comments", () => {
  it("are added, changed and read back, with links and code", async () => {
    const issue = server.addIssue(newProject(), { summary: "x" });
    const markdown = "**Done**: [the MR](https://x/1)\n\n- `a`\n- b\n\n```ts\nlet c;\n```";
    const comment = await jira.addComment(issue.key, markdown);

    await jira.changeComment(issue.key, comment.id, "Changed, see https://x/2");
    server.commentAs(server.root, issue, "thanks");

    expect(comment).toMatchObject({ authorId: bot.accountId, text: markdown });
    expect(await jira.comments(issue.key)).toEqual([
      { id: comment.id, authorId: bot.accountId, text: "Changed, see https://x/2" },
      expect.objectContaining({ authorId: server.root.accountId, text: "thanks" }),
    ]);
  });

  it("are deleted, also if they do not exist", async () => {
    const issue = server.addIssue(newProject(), { summary: "x" });
    const comment = await jira.addComment(issue.key, "Working on it.");

    await jira.deleteComment(issue.key, comment.id);
    await jira.deleteComment(issue.key, comment.id);

    expect(await jira.comments(issue.key)).toEqual([]);
  });

  it("are cut to the maximum length", async () => {
    const issue = server.addIssue(newProject(), { summary: "x" });

    const { text } = await jira.addComment(issue.key, "- `code` and **bold**\n".repeat(5_000));

    expect(text).toMatch(/too long for a comment\)$/);
  });

  it("are read from all pages", async () => {
    const issue = server.addIssue(newProject(), { summary: "x" });
    for (let i = 0; i < 101; i++) server.commentAs(server.root, issue, `${i}`);

    expect((await jira.comments(issue.key)).map(({ text }) => text)).toEqual(
      Array.from({ length: 101 }, (_, i) => `${i}`),
    );
  });
});

function client(some: Partial<JiraHttpOptions> = {}): Jira {
  const who = { email: bot.email, token: async () => bot.token };
  return jiraHttp({
    url: server.url,
    ...who,
    timeLimitMs: 10_000,
    clock: systemClock(),
    random: systemRandom(),
    ...some,
  });
}

function newProject(): JiraProject {
  return server.addProject(`P${++projects}`);
}
