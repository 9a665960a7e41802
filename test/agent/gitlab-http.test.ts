import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Finding, findPosition, type GitLab, gitlabHttp, type ServerOptions } from "../../src/agent/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import type { MergeRequest, Project, User } from "../doubles/gitlab/model.ts";
import type { FileChanges } from "../doubles/gitlab/repository.ts";
import { type GitLabDouble, startGitLab } from "../doubles/gitlab/start-gitlab.ts";
import { ManualClock } from "../doubles/manual-clock.ts";

let server: GitLabDouble;
let bot: User;
let ann: User;
let gitlab: GitLab;
let projects = 0;

beforeAll(async () => {
  server = await startGitLab();
  [bot, ann] = [server.addUser("bot"), server.addUser("ann")];
  gitlab = client();
});

afterEach(() => {
  server.faults.clear();
  server.time.offsetMinutes = 0;
  server.settings.preparingReads = 0;
});

afterAll(() => server.close());

describe("users", () => {
  it("are looked up", async () => {
    const project = await server.addProject({ path: name(), members: [{ user: bot, level: 30 }] });

    expect(await gitlab.self()).toEqual({ id: bot.id, username: "bot" });
    expect(await gitlab.accessLevel(project.id, bot.id)).toBe(30);
    expect(await gitlab.accessLevel(project.id, ann.id)).toBe(0);
  });

  it("have no access from the day on which their membership expires", async () => {
    const clock = new ManualClock();
    const colleague = server.addUser("colleague");
    const members = [bot, colleague].map((user) => ({ user, level: 30 }));
    const project = await server.addProject({ path: name(), members });
    const levels = [];
    for (const at of [clock.wallMs(), clock.wallMs() + 86_400_000]) {
      server.expire(colleague, new Date(at).toISOString().slice(0, 10));
      levels.push(await client({ clock }).accessLevel(project.id, colleague.id));
    }

    expect(levels).toEqual([0, 30]);
  });

  it("are read once for each of our tokens", async () => {
    let token = bot.token;
    const changing = client({ token: async () => token });
    server.requests.clear();

    await changing.self();
    await changing.self();
    token = ann.token;

    expect(await changing.self()).toMatchObject({ username: "ann" });
    expect(server.requests.count("GET", "/user")).toBe(2);
  });

  it("are denied to a bad token, which is not repeated", async () => {
    const error = await client({ token: async () => "glpat-wrong" })
      .self()
      .catch((caught) => caught);

    expect(error).toMatchObject({ name: "RemoteError", kind: "denied", status: 401 });
    expect(error.message).not.toContain("glpat-wrong");
  });
});

describe("a project", () => {
  it("is found by its id and by its path", async () => {
    const { id, path, cloneUrl, webUrl } = await server.addProject({ path: `group/${name()}` });

    expect(await gitlab.project(id)).toEqual({ id, path, cloneUrl, webUrl, defaultBranch: "main" });
    expect(await gitlab.project(path)).toMatchObject({ id });
    await expect(gitlab.project("no/such")).rejects.toMatchObject({ kind: "missing", status: 404 });
  });
});

describe("merge requests", () => {
  it("are read with all fields", async () => {
    const { mr, place, project } = await newMergeRequest();

    expect(await gitlab.mergeRequest(place)).toMatchObject({
      ...place,
      title: mr.title,
      state: "opened",
      draft: false,
      author: { id: ann.id, username: "ann" },
      sourceBranch: "topic",
      targetBranch: "main",
      sourceProjectId: project.id,
      headSha: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
  });

  it("are listed from a time on, oldest change first, with the server's time, whatever its offset", async () => {
    server.time.offsetMinutes = 330;
    server.faults.dateSkewMs = -600_000;
    const project = await server.addProject({ path: name() });
    const iids = await openSome(project, 3);
    const from = (await gitlab.mergeRequest({ projectId: project.id, iid: 2 })).updatedAt;

    const listed = await gitlab.mergeRequestsSince(project.id, { from });

    expect(listed.items.map(({ iid }) => iid)).toEqual(iids.slice(1));
    expect(listed.more).toBe(false);
    expect(listed.items[0]?.updatedAt).toMatch(/Z$/);
    const behindMs = server.time.nowMs() - listed.serverDate.getTime();
    expect(behindMs).toBeGreaterThan(590_000);
  });

  it("are read up to a limit", async () => {
    const project = await server.addProject({ path: name() });
    await openSome(project, 3);

    const listed = await gitlab.mergeRequestsSince(project.id, { from: "2020-01-01T00:00:00Z", limit: 2 });

    expect(listed).toMatchObject({ items: [{ iid: 1 }, { iid: 2 }], more: true });
  });

  it("are created once: a repeated call, and one after a lost response, return the first", async () => {
    const project = await server.addProject({ path: name() });
    await server.pushAs(bot, project, "agent/x", { "a.txt": "a\n" }, { from: "main" });
    const draft = { sourceBranch: "agent/x", targetBranch: "main", title: "Draft: x", description: "d" };
    server.faults.loseReply({ method: "POST" });

    await expect(gitlab.createMergeRequest(project.id, draft)).rejects.toMatchObject({ kind: "unavailable" });
    const again = await gitlab.createMergeRequest(project.id, draft);

    expect(again).toMatchObject({ iid: 1, draft: true, description: "d" });
    expect(project.mergeRequests).toHaveLength(1);
  });

  it("of a fork with the same branch name are not confused with ours", async () => {
    const project = await server.addProject({ path: name() });
    const fork = await server.addProject({ path: name(), forkOf: project });
    await server.pushAs(ann, fork, "agent/x", { "a.txt": "fork\n" }, { from: "main" });
    await server.openMergeRequest(project, {
      sourceBranch: "agent/x",
      title: "fork",
      sourceProject: fork,
      author: ann,
    });
    await server.pushAs(bot, project, "agent/x", { "a.txt": "ours\n" }, { from: "main" });
    const draft = { sourceBranch: "agent/x", targetBranch: "main", title: "ours", description: "d" };

    expect(await gitlab.createMergeRequest(project.id, draft)).toMatchObject({ iid: 2 });
    expect(await gitlab.createMergeRequest(project.id, draft)).toMatchObject({ iid: 2 });
  });
});

describe("changes", () => {
  it("are undefined until GitLab has computed them", async () => {
    const project = await server.addProject({ path: name() });
    await server.pushAs(bot, project, "topic", { "a.txt": "a\n" }, { from: "main" });
    server.settings.preparingReads = 3;
    const draft = { sourceBranch: "topic", targetBranch: "main", title: "x", description: "" };
    const { iid } = await gitlab.createMergeRequest(project.id, draft);
    const place = { projectId: project.id, iid };

    let [tries, changes] = [0, await gitlab.changes(place)];
    for (; !changes && tries < 10; tries++) changes = await gitlab.changes(place);

    expect(tries).toBeGreaterThan(0);
    expect(changes?.files).toMatchObject([{ newPath: "a.txt" }]);
  });

  it("have positions that GitLab accepts: added, removed, unchanged, far from any change, renamed, deleted", async () => {
    const many = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
    const text = (lines: readonly string[]) => `${lines.join("\n")}\n`;
    const project = await server.addProject({
      path: name(),
      files: { "a.txt": text(many), "old.txt": text(many), "gone.txt": "one\ntwo\n" },
    });
    const changed = [...many.slice(0, 4), "new 5", "new 6", ...many.slice(5, 29), ...many.slice(30)];
    const files: FileChanges = {
      "a.txt": text(changed),
      "old.txt": { delete: true },
      "new.txt": text(changed),
      "gone.txt": { delete: true },
      "n.txt": "n\n",
    };
    await server.pushAs(ann, project, "topic", files, { from: "main" });
    const mr = await server.openMergeRequest(project, { sourceBranch: "topic", title: "t", author: ann });
    const place = { projectId: project.id, iid: mr.iid };
    const changes = await gitlab.changes(place);
    if (!changes) throw new Error("no changes");

    const findings: [string, number, Finding["side"]][] = [
      ["a.txt", 5, "new"],
      ["a.txt", 6, "new"],
      ["a.txt", 5, "old"],
      ["a.txt", 30, "old"],
      ["a.txt", 4, "new"],
      ["a.txt", 7, "new"],
      ["a.txt", 15, "new"],
      ["a.txt", 1, "old"],
      ["new.txt", 5, "new"],
      ["new.txt", 8, "new"],
      ["old.txt", 30, "old"],
      ["gone.txt", 2, "old"],
      ["n.txt", 1, "new"],
    ];
    for (const [path, line, side] of findings) {
      const position = findPosition({ path, line, side, severity: "info", message: "m" }, changes);
      if (!position) throw new Error(`no position for ${path}:${line}`);
      const discussion = await gitlab.startDiscussion(place, { body: `${path}:${line}`, position });
      expect(discussion.notes).toMatchObject([{ body: `${path}:${line}`, discussionId: discussion.id }]);
    }
    expect(await gitlab.discussions(place)).toHaveLength(findings.length);
  });

  it("with a position that GitLab refuses are an error", async () => {
    const { place } = await newMergeRequest();
    const changes = await gitlab.changes(place);
    if (!changes) throw new Error("no changes");

    const position = { ...changes.refs, oldPath: "a.txt", newPath: "a.txt", newLine: 4_000 };

    await expect(gitlab.startDiscussion(place, { body: "x", position })).rejects.toMatchObject({
      kind: "refused",
      message: /must be a valid line code/,
    });
  });
});

describe("notes", () => {
  it("are added, answered, changed, awarded and deleted", async () => {
    const { place, mr } = await newMergeRequest();
    const note = await gitlab.addNote(place, "first");
    const { id } = await server.discuss(mr, ann, "a thread");

    const answer = await gitlab.addNote(place, "answer", id);
    await gitlab.changeNote(place, note.id, "changed");
    await gitlab.award(place, answer.id, "eyes");
    await gitlab.award(place, answer.id, "eyes");

    expect(answer).toMatchObject({ body: "answer", discussionId: id, author: { id: bot.id }, system: false });
    const bodies = (await gitlab.discussions(place)).map(({ notes }) => notes.map(({ body }) => body));
    expect(bodies).toEqual([["changed"], ["a thread", "answer"]]);
    expect(server.whatHappened().awards.filter((award) => award.note === answer.id)).toHaveLength(1);

    await gitlab.deleteNote(place, note.id);
    await gitlab.deleteNote(place, note.id);
    expect(await gitlab.discussions(place)).toHaveLength(1);
    await expect(gitlab.award(place, note.id, "eyes")).rejects.toMatchObject({ kind: "missing" });
  });

  it("are listed from a time on, oldest first, without system notes, whatever the offset of their times", async () => {
    server.time.offsetMinutes = -480;
    const { place, mr } = await newMergeRequest();
    await server.commentOn(mr, ann, "old");
    server.time.advance(60_000);
    const second = await gitlab.addNote(place, "second");
    server.time.advance(60_000);
    await server.commentOn(mr, ann, "third");
    await server.changeMergeRequest(mr, { title: "gives a note of GitLab" });

    const notes = await gitlab.notesSince(place, second.createdAt);

    expect(notes.map(({ body }) => body)).toEqual(["second", "third"]);
  });

  it("are read from all pages, also if one is deleted between two of them", async () => {
    const { place, mr } = await newMergeRequest();
    for (let i = 1; i <= 101; i++) await server.commentOn(mr, ann, `note ${i}`);
    const before = await gitlab.discussions(place);
    expect(before).toHaveLength(101);
    const victim = before[0]?.notes[0];
    server.faults.before({ method: "GET", path: "/discussions", after: 1 }, async () => {
      if (victim) await client({ token: async () => server.root.token }).deleteNote(place, victim.id);
    });

    const after = await gitlab.discussions(place);

    expect(after.map(({ notes }) => notes[0]?.body)).toEqual(Array.from({ length: 100 }, (_, i) => `note ${i + 2}`));
    expect(await gitlab.notesSince(place, "2020-01-01T00:00:00Z")).toHaveLength(100);
  });
});

describe("while GitLab is unavailable", () => {
  it("a read is retried, after the requested delay or a growing one", async () => {
    const clock = new ManualClock();
    server.faults.failNext({ status: 502, path: "/user" });
    server.faults.failNext({ status: 429, retryAfterSeconds: 3, path: "/user" });

    const asking = client({ clock }).self();

    expect(await advanced(clock, asking)).toMatchObject({ username: "bot" });
  });

  it("a read is retried a limited number of times, and a long delay is returned", async () => {
    const clock = new ManualClock();
    server.faults.failNext({ status: 503, path: "/user", times: 10 });
    server.requests.clear();
    await expect(advanced(clock, client({ clock }).self())).rejects.toMatchObject({ kind: "unavailable", status: 503 });
    expect(server.requests.count("GET", "/user")).toBe(4);

    server.faults.clear();
    server.faults.failNext({ status: 429, retryAfterSeconds: 120, path: "/user" });
    await expect(client().self()).rejects.toMatchObject({ kind: "unavailable", retryAfterMs: 120_000 });
  });

  it("nothing is posted twice", async () => {
    const { place } = await newMergeRequest();
    server.requests.clear();
    server.faults.loseReply({ method: "POST" });

    await expect(gitlab.addNote(place, "once")).rejects.toMatchObject({ kind: "unavailable" });

    expect(server.requests.count("POST", "/notes")).toBe(1);
  });

  it("a response that breaks off is retried", async () => {
    server.faults.cutReply({ path: "/user", afterBytes: 10 });

    expect(await client().self()).toMatchObject({ username: "bot" });
  });

  it("a call ends at its time limit, or with its signal", async () => {
    const clock = new ManualClock();
    const { place } = await newMergeRequest();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    server.faults.before({ method: "POST", times: 2 }, () => {
      arrived();
      return held;
    });

    const slow = client({ clock }).addNote(place, "slow");
    const tooSlow = expect(slow).rejects.toMatchObject({ kind: "unavailable", message: /within 10 s/ });
    await arrival;
    await clock.advance(10_000);
    await tooSlow;
    const stop = new AbortController();
    const stopped = gitlab.addNote(place, "stopped", undefined, stop.signal);
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    release();
  });

  it("an invalid response is an error", async () => {
    server.faults.failNext({ status: 302, path: "/user" });
    await expect(client().self()).rejects.toMatchObject({ kind: "refused", status: 302 });
    server.faults.failNext({ status: 200, path: "/user", body: { id: 7 } });
    await expect(client().self()).rejects.toMatchObject({ kind: "refused", message: /no text `username`/ });
    await expect(client({ url: "http://127.0.0.1:1" }).addNote({ projectId: 1, iid: 1 }, "x")).rejects.toMatchObject({
      kind: "unavailable",
      message: /ECONNREFUSED|bad port|cannot be reached/,
    });
  });
});

function client(some: Partial<ServerOptions> = {}): GitLab {
  const token = async () => bot.token;
  return gitlabHttp({
    ...{ url: `${server.url}/`, token, timeLimitMs: 10_000, clock: systemClock(), random: systemRandom() },
    ...some,
  });
}

/** What comes of `work`, with time going on whenever it waits. */
async function advanced<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  work.then(done, done);
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (clock.pendingTimers > 0) await clock.advance(100);
  }
  return await work;
}

function name(): string {
  return `project-${++projects}`;
}

async function newMergeRequest(): Promise<{
  mr: MergeRequest;
  place: { projectId: number; iid: number };
  project: Project;
}> {
  const project = await server.addProject({ path: name(), files: { "a.txt": "a\n" } });
  await server.pushAs(ann, project, "topic", { "a.txt": "changed\n" }, { from: "main" });
  const mr = await server.openMergeRequest(project, { sourceBranch: "topic", title: "A topic", author: ann });
  return { mr, place: { projectId: project.id, iid: mr.iid }, project };
}

async function openSome(project: Project, count: number): Promise<number[]> {
  const iids: number[] = [];
  for (let i = 0; i < count; i++) {
    await server.pushAs(ann, project, `topic-${i}`, { "a.txt": `${i}\n` }, { from: "main" });
    const mr = await server.openMergeRequest(project, { sourceBranch: `topic-${i}`, title: `${i}`, author: ann });
    iids.push(mr.iid);
    server.time.advance(1_000);
  }
  return iids;
}
