import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ask, asking } from "../web/ask.ts";
import { type MergeRequest, maintainer, type Project, reporter, type User } from "./model.ts";
import { type GitLabDouble, type ProjectDraft, startGitLab } from "./start-gitlab.ts";

let gitlab: GitLabDouble;
let bot: User;
let ann: User;
let api: Ask;
let projects = 0;

beforeAll(async () => {
  gitlab = await startGitLab();
  [bot, ann] = [gitlab.addUser("bot"), gitlab.addUser("ann")];
  api = as(bot.token);
});
afterAll(() => gitlab.close());

describe("who asks", () => {
  it("is identified by the token, and rejected without one", async () => {
    expect((await api("GET", "/user")).body).toMatchObject({ id: bot.id, username: "bot" });
    expect(await as("nonsense")("GET", "/user")).toMatchObject({
      status: 401,
      body: { message: "401 Unauthorized" },
    });
  });

  it("may read and no more with a token for reading, and nothing with one that was revoked", async () => {
    const { place } = await mergeRequest();
    const token = gitlab.addToken(bot, "read_api");
    expect((await as(token)("GET", place)).status).toBe(200);
    expect(await as(token)("POST", `${place}/notes`, { body: "hello" })).toMatchObject({
      status: 403,
      body: { error: "insufficient_scope" },
    });

    gitlab.revokeToken(token);
    expect((await as(token)("GET", place)).status).toBe(401);
  });

  it("sees private projects only as a member, by id or encoded path", async () => {
    const project = await newProject({ members: [{ user: bot, level: reporter }] });

    expect((await api("GET", `/projects/${project.id}`)).body).toMatchObject({
      path_with_namespace: project.path,
      http_url_to_repo: project.cloneUrl,
      default_branch: "main",
    });
    expect((await api("GET", `/projects/${encodeURIComponent(project.path)}`)).body.id).toBe(project.id);
    expect(await as(ann.token)("GET", `/projects/${project.id}`)).toMatchObject({
      status: 404,
      body: { message: "404 Project Not Found" },
    });
    expect((await api("GET", `/projects/${project.id}/members/all/${bot.id}`)).body.access_level).toBe(reporter);
    expect((await api("GET", `/projects/${project.id}/members/all/${ann.id}`)).status).toBe(404);
    const draft = { source_branch: "a", target_branch: "main", title: "A" };
    expect((await api("POST", `/projects/${project.id}/merge_requests`, draft)).status).toBe(403);
  });
});

describe("merge requests", () => {
  it("are one per branch and target: the second is a conflict that names the first", async () => {
    const project = await newProject();
    await gitlab.pushAs(ann, project, "topic", { "new.txt": "new\n" });
    const all = `/projects/${project.id}/merge_requests`;
    const draft = { source_branch: "topic", target_branch: "main", title: "Draft: Topic" };

    const results = await Promise.all([api("POST", all, draft), api("POST", all, draft)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const { body: made } = results.find(({ status }) => status === 201) as { body: MergeRequestAnswer };
    expect(made).toMatchObject({ iid: 1, draft: true, web_url: `${project.webUrl}/-/merge_requests/1` });
    expect(results.find(({ status }) => status === 409)?.body).toEqual({
      message: ["Another open merge request already exists for this source branch: !1"],
    });
    expect((await api("POST", all, { ...draft, source_branch: "main" })).status).toBe(422);
    expect((await api("POST", all, { source_branch: "topic", target_branch: "main" })).body).toEqual({
      error: "title is missing",
    });
    expect(gitlab.whatHappened().mergeRequests.filter((mr) => mr.project === project.path)).toHaveLength(1);
  });

  it("are closed and opened again, but not beside another one", async () => {
    const { place, mr, project } = await mergeRequest();
    expect((await api("PUT", place, { state_event: "close" })).body.state).toBe("closed");
    await gitlab.openMergeRequest(project, { sourceBranch: mr.sourceBranch });
    expect((await api("PUT", place, { state_event: "reopen" })).status).toBe(409);
    expect((await api("PUT", place, {})).status).toBe(400);
    expect((await api("PUT", place, { title: "Draft: later" })).body.draft).toBe(true);
  });

  it("have no diff while it is being computed", async () => {
    const { place } = await mergeRequest({ preparingReads: 1 });
    expect((await api("GET", place)).body).toMatchObject({ sha: null, diff_refs: null });
    expect((await api("GET", place)).body.diff_refs.head_sha).toMatch(/^\w{40}$/);
  });

  it("are listed from a time on, inclusive, in pages of at most a hundred", async () => {
    const project = await newProject();
    const made: MergeRequest[] = [];
    for (let n = 0; n < 103; n++) {
      made.push(await gitlab.openMergeRequest(project, { sourceBranch: `b${n}` }));
      gitlab.time.advance(1_000);
    }
    const all = `/projects/${project.id}/merge_requests?order_by=updated_at&sort=asc`;

    const first = await api("GET", `${all}&per_page=500`);
    expect(first.body).toHaveLength(100);
    expect(first.body[0]).toMatchObject({ iid: 1, sha: null });
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "x-next-page": "2",
      "x-total": "103",
      "x-per-page": "100",
    });
    const [, next = ""] = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "") ?? [];
    const second = await api("GET", next.replace(`${gitlab.url}/api/v4`, ""));
    expect(second.body).toHaveLength(3);
    expect(second.headers.get("x-next-page")).toBe("");

    const from = encodeURIComponent(gitlab.time.iso(made[100]?.updatedMs ?? 0));
    expect((await api("GET", `${all}&updated_after=${from}`)).body).toHaveLength(3);
    expect((await api("GET", `${all}&updated_after=yesterday-ish`)).status).toBe(400);
  });
});

describe("notes", () => {
  it("change when a merge request was updated only if that was more than a minute ago", async () => {
    const { place, mr } = await mergeRequest();
    const before = (await api("GET", place)).body.updated_at;
    await gitlab.commentOn(mr, ann, "soon");
    expect((await api("GET", place)).body.updated_at).toBe(before);

    gitlab.time.advance(61_000);
    await gitlab.commentOn(mr, ann, "later");
    expect((await api("GET", place)).body.updated_at > before).toBe(true);
  });

  it("come newest first, with GitLab's own, whatever unknown filters ask for", async () => {
    const { place, mr, project } = await mergeRequest();
    await gitlab.commentOn(mr, ann, "first");
    await gitlab.pushAs(ann, project, mr.sourceBranch, { "more.txt": "more\n" });
    await gitlab.commentOn(mr, ann, "second");

    const { body } = await api("GET", `${place}/notes?created_after=2999-01-01`);
    expect(body.map((note: { body: string }) => note.body)).toEqual(["second", "added 1 commit", "first"]);
    expect(body[1].system).toBe(true);
    expect((await api("GET", `${place}/notes?sort=sideways`)).status).toBe(400);
    expect((await api("GET", `${place}/notes?activity_filter=only_comments`)).body).toHaveLength(2);
  });

  it("are refused without a body, with an empty one and with one that is too long", async () => {
    const { place } = await mergeRequest();
    expect((await api("POST", `${place}/notes`, {})).body).toEqual({ error: "body is missing" });
    expect((await api("POST", `${place}/notes`, { body: " " })).status).toBe(400);
    expect((await api("POST", `${place}/notes`, { body: "x".repeat(1_000_001) })).status).toBe(400);
  });

  it("are edited and deleted by their authors, and are gone then", async () => {
    const { place, mr } = await mergeRequest();
    const { body: own } = await api("POST", `${place}/notes`, { body: "one" });
    const other = await gitlab.commentOn(mr, ann, "hers");

    expect((await api("PUT", `${place}/notes/${own.id}`, { body: "two" })).body.body).toBe("two");
    expect((await api("PUT", `${place}/notes/${other.id}`, { body: "mine" })).status).toBe(403);
    expect((await api("DELETE", `${place}/notes/${own.id}`)).status).toBe(204);
    expect((await api("DELETE", `${place}/notes/${own.id}`)).status).toBe(404);
    const listed = gitlab.whatHappened().notes.find(({ id }) => id === own.id);
    expect(listed).toMatchObject({ author: "bot", body: "two", earlierBodies: ["one"], isDeleted: true });
  });

  it("take each emoji once from each user", async () => {
    const { place, mr } = await mergeRequest();
    const note = await gitlab.commentOn(mr, ann, "look");
    const awards = `${place}/notes/${note.id}/award_emoji`;
    expect((await api("POST", awards, { name: "eyes" })).status).toBe(201);
    expect(await api("POST", awards, { name: "eyes" })).toMatchObject({
      status: 404,
      body: { message: "404 Award Emoji Name has already been taken Not Found" },
    });
    expect((await as(ann.token)("POST", awards, { name: "eyes" })).status).toBe(201);
    expect((await api("GET", awards)).body).toHaveLength(2);
  });

  it("become threads when answered, and threads can be resolved", async () => {
    const { place, mr } = await mergeRequest();
    await gitlab.commentOn(mr, ann, "why?");
    const [lone] = (await api("GET", `${place}/discussions`)).body;
    expect(lone.individual_note).toBe(true);
    expect((await api("PUT", `${place}/discussions/${lone.id}`, { resolved: true })).status).toBe(400);

    expect((await api("POST", `${place}/discussions/${lone.id}/notes`, { body: "because" })).status).toBe(201);
    const resolved = await api("PUT", `${place}/discussions/${lone.id}`, { resolved: true });
    expect(resolved.body).toMatchObject({ individual_note: false, notes: [{ resolved_by: { username: "bot" } }, {}] });
    expect((await api("POST", `${place}/discussions/nowhere/notes`, { body: "?" })).status).toBe(404);
  });
});

describe("notes on lines", () => {
  const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
  let place: string;
  let refs: Record<string, string>;

  beforeAll(async () => {
    const project = await newProject({
      files: { "old.txt": before, "pic.bin": Buffer.from([0, 1]), "gone.txt": "gone\n" },
    });
    await gitlab.pushAs(ann, project, "topic", {
      "old.txt": { renameTo: "new.txt" },
      "new.txt": before.replace("two", "2").replace("ten\n", "ten\neleven\n"),
      "pic.bin": Buffer.from([0, 2]),
      "gone.txt": { delete: true },
      "born.txt": "born\n",
    });
    await gitlab.pushAs(ann, project, "main", { "elsewhere.txt": "moved on\n" });
    const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic" });
    place = `/projects/${project.id}/merge_requests/${mr.iid}`;
    refs = (await api("GET", place)).body.diff_refs;
  });

  const renamed = { old_path: "old.txt", new_path: "new.txt" };
  const gone = { old_path: "gone.txt", new_path: "gone.txt" };
  const born = { old_path: "born.txt", new_path: "born.txt" };

  it.each([
    ["an added line by its new number", { ...renamed, new_line: 2 }],
    ["a removed line by its old number", { ...renamed, old_line: 2 }],
    ["an unchanged line by both", { ...renamed, old_line: 3, new_line: 3 }],
    ["an unchanged line far from any change", { ...renamed, old_line: 6, new_line: 6 }],
    ["a line of a file that went", { ...gone, old_line: 1 }],
    ["a line of a file that came", { ...born, new_line: 1 }],
  ])("stand at %s", async (_name, where) => {
    const { status, body } = await note(where);
    expect(status).toBe(201);
    expect(body.notes[0]).toMatchObject({ type: "DiffNote", position: where, resolvable: true, resolved: false });
  });

  it.each([
    ["an unchanged line has only its new number", { ...renamed, new_line: 3 }],
    ["an unchanged line has the wrong old number", { ...renamed, old_line: 4, new_line: 3 }],
    ["an added line has an old number as well", { ...renamed, old_line: 2, new_line: 2 }],
    ["a removed line has a new number", { ...gone, new_line: 1 }],
    ["the old path is that of the new side", { old_path: "new.txt", new_path: "new.txt", new_line: 2 }],
    ["the old path is missing", { new_path: "new.txt", new_line: 2 }],
    ["the file is not changed", { old_path: "elsewhere.txt", new_path: "elsewhere.txt", new_line: 1 }],
    ["the file is binary", { old_path: "pic.bin", new_path: "pic.bin", new_line: 1 }],
    ["the line is beyond the end", { ...renamed, old_line: 11, new_line: 12 }],
    ["there is no line", renamed],
    ["the head is no version's", { ...renamed, new_line: 2, head_sha: "0".repeat(40) }],
    ["the base is no version's", { ...renamed, new_line: 2, base_sha: "0".repeat(40) }],
    ["the start is no version's", { ...renamed, new_line: 2, start_sha: "0".repeat(40) }],
  ])("are refused if %s", async (_name, where) => {
    expect(await note(where)).toMatchObject({
      status: 400,
      body: { message: `400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}` },
    });
  });

  it("are refused without commits", async () => {
    const position = { position_type: "text", ...renamed, new_line: 2 };
    expect((await api("POST", `${place}/discussions`, { body: "x", position })).body).toEqual({
      error: "position[base_sha] is missing",
    });
  });

  it("find what changed as git sees it", async () => {
    const { body } = await api("GET", `${place}/diffs`);
    const kinds = body.map((file: Record<string, unknown>) => [
      file["new_path"],
      ["new_file", "renamed_file", "deleted_file"].filter((kind) => file[kind]).join(),
    ]);
    expect(kinds).toEqual([
      ["born.txt", "new_file"],
      ["gone.txt", "deleted_file"],
      ["new.txt", "renamed_file"],
      ["pic.bin", ""],
    ]);
    expect(body[2].diff).toMatch(/^@@ -1,5 \+1,5 @@\n one\n-two\n\+2\n/);
    expect(body[3].diff).toBe("Binary files a/pic.bin and b/pic.bin differ\n");
    expect((await api("GET", `${place}/changes`)).body).toMatchObject({ diff_refs: refs, overflow: false });
    expect((await api("GET", `${place}/versions`)).body).toMatchObject([{ head_commit_sha: refs["head_sha"] }]);
    expect((await api("GET", `${place}/commits`)).body).toMatchObject([{ id: refs["head_sha"] }]);
  });

  function note(where: object) {
    const position = { ...refs, position_type: "text", ...where };
    return api("POST", `${place}/discussions`, { body: "here", position });
  }
});

describe("diffs", () => {
  it("are left out where a file's is large, and where it is too large", async () => {
    const project = await newProject();
    const lines = (bytes: number) => "0123456\n".repeat(bytes / 8);
    await gitlab.pushAs(ann, project, "topic", { "big.txt": lines(40_000), "huge.txt": lines(400_000) });
    const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic" });
    const { body } = await api("GET", `/projects/${project.id}/merge_requests/${mr.iid}/diffs`);
    expect(body).toMatchObject([
      { new_path: "big.txt", diff: "", collapsed: true, too_large: false },
      { new_path: "huge.txt", diff: "", collapsed: false, too_large: true },
    ]);
  });

  it("compare two commits, from their merge base by default", async () => {
    const { project, mr } = await mergeRequest();
    await gitlab.pushAs(ann, project, "main", { "main.txt": "main\n" });
    const compare = (query: string) => api("GET", `/projects/${project.id}/repository/compare?${query}`);
    const both = `from=main&to=${mr.sourceBranch}`;
    expect((await compare(both)).body.diffs).toHaveLength(1);
    expect((await compare(`${both}&straight=true`)).body.diffs).toHaveLength(2);
    expect((await compare(`from=main&to=${"1".repeat(40)}`)).status).toBe(404);
  });
});

describe("the repository", () => {
  it("gives and takes branches, commits and files", async () => {
    const project = await newProject({ members: [{ user: bot, level: maintainer }] });
    const base = `/projects/${project.id}/repository`;
    expect((await api("POST", `${base}/branches`, { branch: "a/b", ref: "main" })).status).toBe(201);
    expect((await api("POST", `${base}/branches`, { branch: "a/b", ref: "main" })).status).toBe(400);
    expect((await api("POST", `${base}/branches`, { branch: "c", ref: "nothing" })).status).toBe(400);
    const actions = [{ action: "create", file_path: "dir/x.txt", content: "x\n" }];
    expect((await api("POST", `${base}/commits`, { branch: "a/b", commit_message: "X", actions })).status).toBe(201);
    const file = await api("GET", `${base}/files/dir%2Fx.txt?ref=a%2Fb`);
    expect(Buffer.from(file.body.content, "base64").toString()).toBe("x\n");
    expect((await api("GET", `${base}/files/dir%2Fx.txt?ref=main`)).status).toBe(404);
    expect((await api("DELETE", `${base}/branches/a%2Fb`)).status).toBe(204);
    expect((await api("GET", `${base}/branches/a%2Fb`)).status).toBe(404);
  });
});

describe("times", () => {
  it("are written in the server's offset, and its Date may be off", async () => {
    const { place } = await mergeRequest();
    gitlab.time.offsetMinutes = -330;
    gitlab.faults.dateSkewMs = 600_000;
    const { body, headers } = await api("GET", place);
    gitlab.time.offsetMinutes = 0;
    gitlab.faults.clear();

    expect(body.updated_at).toMatch(/T[\d:.]+-05:30$/);
    const ahead = Date.parse(headers.get("date") ?? "") - Date.parse(body.updated_at);
    expect(ahead).toBeGreaterThan(590_000);
  });
});

type MergeRequestAnswer = { iid: number; web_url: string };

function as(token: string): Ask {
  return asking(`${gitlab.url}/api/v4`, { "PRIVATE-TOKEN": token });
}

function newProject(draft: Partial<ProjectDraft> = {}): Promise<Project> {
  return gitlab.addProject({ path: `shop/cart-${++projects}`, ...draft });
}

async function mergeRequest(options: { preparingReads?: number } = {}) {
  const project = await newProject();
  const sourceBranch = "topic";
  await gitlab.pushAs(ann, project, sourceBranch, { "new.txt": "new\n" });
  const mr = await gitlab.openMergeRequest(project, { sourceBranch, ...options });
  return { project, mr, place: `/projects/${project.id}/merge_requests/${mr.iid}` };
}
