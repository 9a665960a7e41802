import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ask, asking } from "../web/ask.ts";
import { adfOf } from "./adf.ts";
import { type JiraProject, type JiraUser, plainWorkflow } from "./model.ts";
import { type JiraDouble, startJira } from "./start-jira.ts";

let jira: JiraDouble;
let bot: JiraUser;
let project: JiraProject;
let api: Ask;

beforeEach(async () => {
  jira = await startJira();
  bot = jira.addUser("bot");
  project = jira.addProject("SHOP");
  api = as(bot);
});
afterEach(() => jira.close());

describe("who asks", () => {
  it("shows a mail address and a token", async () => {
    expect((await api("GET", "/myself")).body).toMatchObject({ accountId: bot.accountId, displayName: "bot" });
    expect((await as({ ...bot, token: "wrong" })("GET", "/myself")).status).toBe(401);
    const issue = jira.addIssue(project, { summary: "Look" });
    const reader = as(jira.addUser("reader", { isReadOnly: true }));
    expect((await reader("GET", `/issue/${issue.key}`)).status).toBe(200);
    expect((await reader("POST", `/issue/${issue.key}/comment`, { body: adfOf("x") })).status).toBe(403);
    expect((await api("GET", "/serverInfo")).body.serverTime).toMatch(/\+0000$/);
  });
});

describe("a search", () => {
  it("returns only ids unless fields are named, in pages without a total", async () => {
    for (let n = 0; n < 5; n++) jira.addIssue(project, { summary: `Issue ${n}` });
    const jql = encodeURIComponent('project = SHOP AND status = "To Do" ORDER BY created ASC, key');

    const first = (await api("GET", `/search/jql?jql=${jql}&maxResults=3`)).body;
    expect(first.issues).toHaveLength(3);
    expect(Object.keys(first.issues[0])).toEqual(["id"]);
    expect(first).not.toHaveProperty("total");
    expect(first.isLast).toBe(false);
    const next = `nextPageToken=${first.nextPageToken}&fields=summary,status`;
    const second = (await api("GET", `/search/jql?jql=${jql}&maxResults=3&${next}`)).body;
    expect(second).toMatchObject({
      isLast: true,
      issues: [{ key: "SHOP-4", fields: { summary: "Issue 3", status: { name: "To Do" } } }, { key: "SHOP-5" }],
    });
    expect(second.issues[0].fields).not.toHaveProperty("description");
    expect(second).not.toHaveProperty("nextPageToken");
  });

  it.each([
    ['project IN (SHOP, "OTHER") AND labels = urgent', ["SHOP-2"]],
    ["status != 'To Do' and project = SHOP", ["SHOP-3"]],
    ["project = SHOP AND labels NOT IN (urgent) ORDER BY key", ["SHOP-1", "SHOP-3"]],
    ["statusCategory = 'In Progress'", ["SHOP-3"]],
    ["assignee = currentUser()", ["SHOP-1"]],
    ["updated >= -1h AND project = SHOP ORDER BY updated DESC", ["SHOP-3"]],
    ["key = SHOP-2", ["SHOP-2"]],
  ])("understands %s", async (jql, keys) => {
    jira.addProject("OTHER");
    jira.addIssue(project, { summary: "One", assignee: bot });
    jira.addIssue(project, { summary: "Two", labels: ["urgent"] });
    const third = jira.addIssue(project, { summary: "Three" });
    jira.time.advance(2 * 3_600_000);
    jira.moveAs(bot, third, "In Progress");

    const { body } = await api("POST", "/search/jql", { jql, fields: ["summary"] });
    expect(body.issues.map(({ key }: { key: string }) => key)).toEqual(keys);
  });

  it.each([
    "",
    "ORDER BY key",
    "project = NOWHERE",
    "status = Nonsense",
    "project ~ SHOP",
    "mood = good",
    "project = SHOP OR 1",
  ])("refuses %j", async (jql) => {
    const { status, body } = await api("POST", "/search/jql", { jql });
    expect([status, body.errorMessages]).toEqual([400, [expect.any(String)]]);
  });

  it("goes on finding an issue where it was while the index lags", async () => {
    const issue = jira.addIssue(project, { summary: "Slow" });
    jira.time.advance(60_000);
    jira.indexLagMs = 5_000;
    jira.moveAs(bot, issue, "In Progress");
    const waiting = { jql: "status = 'To Do'", fields: ["status"] };

    expect((await api("POST", "/search/jql", waiting)).body.issues).toHaveLength(1);
    jira.time.advance(5_000);
    expect((await api("POST", "/search/jql", waiting)).body.issues).toHaveLength(0);
  });
});

describe("an issue", () => {
  it("has a description as a document, and returns its transitions on request, newest first", async () => {
    const issue = jira.addIssue(project, { summary: "Cart", description: "One.\n\nTwo." });
    jira.moveAs(bot, issue, "In Progress");
    jira.moveAs(jira.root, issue, "To Do");

    const { body } = await api("GET", `/issue/${issue.key}?expand=changelog`);
    expect(body.fields).toMatchObject({ description: adfOf("One.\n\nTwo."), status: { name: "To Do" } });
    const items = body.changelog.histories.map((history: { items: object[] }) => history.items[0]);
    expect(items).toMatchObject([
      { field: "status", to: "10000", fromString: "In Progress", toString: "To Do" },
      { field: "status", to: "10001", fromString: "To Do", toString: "In Progress" },
    ]);
    expect((await api("GET", `/issue/${issue.key}`)).body).not.toHaveProperty("changelog");
    expect((await api("GET", `/issue/${issue.key}/changelog`)).body.values[0].items[0].toString).toBe("In Progress");
    expect((await api("GET", "/issue/SHOP-99")).status).toBe(404);
  });

  it("moves along what leads away from where it stands, once for two who race", async () => {
    const issue = jira.addIssue(project, { summary: "Race" });
    const { body } = await api("GET", `/issue/${issue.key}/transitions`);
    expect(body.transitions).toMatchObject([{ id: "21", name: "Start work", to: { name: "In Progress" } }]);

    const start = () => api("POST", `/issue/${issue.key}/transitions`, { transition: { id: "21" } });
    const results = await Promise.all([start(), start()]);
    expect(results.map(({ status }) => status).toSorted()).toEqual([204, 400]);
    expect((await api("POST", `/issue/${issue.key}/transitions`, {})).status).toBe(400);
    expect(jira.whatHappened().transitions).toEqual([
      { issue: issue.key, from: "To Do", to: "In Progress", by: "bot" },
    ]);
  });

  it("does not move without the fields that its workflow wants", async () => {
    const transitions = [{ id: "51", name: "Close", to: "Done", requires: ["resolution"] }];
    const strict = jira.addProject("STRICT", { ...plainWorkflow, transitions });
    const issue = jira.addIssue(strict, { summary: "Strict" });
    const move = (fields: object) =>
      api("POST", `/issue/${issue.key}/transitions`, { transition: { id: "51" }, fields });
    expect(await move({})).toMatchObject({ status: 400, body: { errors: { resolution: expect.any(String) } } });
    expect((await move({ resolution: { name: "Done" } })).status).toBe(204);
  });
});

describe("comments", () => {
  const paragraph = (...content: object[]) => ({ type: "doc", version: 1, content: [{ type: "paragraph", content }] });
  const text = (marks: object[] = []) => ({ type: "text", text: "x", marks });
  const block = (node: object) => ({ type: "doc", version: 1, content: [node] });

  it.each([
    ["paragraphs", adfOf("One.\n\nTwo.")],
    ["nothing", { type: "doc", version: 1, content: [] }],
    ["a link", paragraph(text([{ type: "link", attrs: { href: "https://example.com" } }]))],
    ["a heading", block({ type: "heading", attrs: { level: 2 }, content: [text()] })],
    ["code", block({ type: "codeBlock", attrs: { language: "ts" }, content: [{ type: "text", text: "x" }] })],
    ["a list", block({ type: "bulletList", content: [{ type: "listItem", content: paragraph(text()).content }] })],
  ])("take %s", async (_name, body) => {
    const issue = jira.addIssue(project, { summary: "Talk" });
    expect((await api("POST", `/issue/${issue.key}/comment`, { body })).status).toBe(201);
  });

  it.each([
    ["text", "hello"],
    ["nothing at all", undefined],
    ["a document without a version", { type: "doc", content: [] }],
    ["text outside a paragraph", block(text())],
    ["empty text", paragraph({ type: "text", text: "" })],
    ["a node that is none", block({ type: "markdown", content: [] })],
    ["a heading without a level", block({ type: "heading", content: [text()] })],
    ["a link to nowhere", paragraph(text([{ type: "link" }]))],
    ["bold code", paragraph(text([{ type: "code" }, { type: "strong" }]))],
    ["marks in code", block({ type: "codeBlock", content: [text([{ type: "strong" }])] })],
    ["a list without items", block({ type: "bulletList", content: [] })],
    ["a list of paragraphs", block({ type: "bulletList", content: paragraph(text()).content })],
    ["far too much", paragraph({ type: "text", text: "x".repeat(33_000) })],
  ])("refuse %s", async (_name, body) => {
    const issue = jira.addIssue(project, { summary: "Talk" });
    expect((await api("POST", `/issue/${issue.key}/comment`, { body })).status).toBe(400);
    expect(jira.whatHappened().comments).toEqual([]);
  });

  it("are changed and removed by who wrote them", async () => {
    const issue = jira.addIssue(project, { summary: "Talk" });
    jira.commentAs(jira.root, issue, "hers");
    const { body: own } = await api("POST", `/issue/${issue.key}/comment`, { body: adfOf("one") });
    const [hers] = (await api("GET", `/issue/${issue.key}/comment`)).body.comments;

    expect((await api("PUT", `/issue/${issue.key}/comment/${own.id}`, { body: adfOf("two") })).status).toBe(200);
    expect((await api("PUT", `/issue/${issue.key}/comment/${hers.id}`, { body: adfOf("two") })).status).toBe(400);
    expect((await api("DELETE", `/issue/${issue.key}/comment/${own.id}`)).status).toBe(204);
    expect((await api("DELETE", `/issue/${issue.key}/comment/${own.id}`)).status).toBe(404);
    expect(jira.whatHappened().comments).toMatchObject([
      { author: "root", text: "hers", isDeleted: false },
      { author: "bot", text: "two", earlierTexts: ["one"], isDeleted: true },
    ]);
  });

  it("are written once when the reply is lost", async () => {
    const issue = jira.addIssue(project, { summary: "Talk" });
    jira.faults.loseReply({ method: "POST", path: "/comment" });
    await expect(api("POST", `/issue/${issue.key}/comment`, { body: adfOf("said") })).rejects.toThrow();
    expect(jira.whatHappened().comments).toHaveLength(1);
  });
});

function as({ email, token }: Pick<JiraUser, "email" | "token">): Ask {
  const credentials = Buffer.from(`${email}:${token}`).toString("base64");
  return asking(`${jira.url}/rest/api/3`, { Authorization: `Basic ${credentials}` });
}
