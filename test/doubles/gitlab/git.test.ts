import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asking } from "../web/ask.ts";
import { gitEnvironment } from "./git.ts";
import { developer, maintainer, type Project, reporter, type User, zeroSha } from "./model.ts";
import { type GitLabDouble, type ProjectDraft, startGitLab } from "./start-gitlab.ts";

let gitlab: GitLabDouble;
let bot: User;
let ann: User;
let directory: string;
let names = 0;

beforeAll(async () => {
  gitlab = await startGitLab();
  [bot, ann] = [gitlab.addUser("bot"), gitlab.addUser("ann")];
  directory = await mkdtemp(join(tmpdir(), "git-double-"));
});
afterAll(async () => {
  await gitlab.close();
  await rm(directory, { recursive: true, force: true });
});

describe("git over HTTP", () => {
  it("clones, whole or shallow, and gives away any commit by its hash, rewritten ones too", async () => {
    const project = await newProject();
    const first = await gitlab.pushAs(ann, project, "topic", { "a.txt": "1\n" });
    await gitlab.pushAs(ann, project, "topic", { "a.txt": "2\n" }, { from: "main" });
    const clone = await cloned(project, "--depth=1");

    expect(await git(clone, "rev-list", "--count", "HEAD")).toMatchObject({ code: 0, out: "1\n" });
    expect((await git(clone, "cat-file", "-e", first)).code).not.toBe(0);
    for (const version of ["0", "2"]) {
      expect((await git(clone, "-c", `protocol.version=${version}`, "fetch", "origin", first)).code).toBe(0);
    }
    expect((await git(clone, "cat-file", "-e", first)).code).toBe(0);
  });

  it("requires a token, and applies the access levels of its user", async () => {
    const project = await newProject({
      members: [
        { user: bot, level: developer },
        { user: ann, level: reporter },
      ],
    });
    const refs = "info/refs?service=git-upload-pack";
    const pushRefs = "info/refs?service=git-receive-pack";
    const status = async (path: string, token?: string) => {
      const credentials = token && { Authorization: `Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}` };
      return (await fetch(path, { headers: { ...credentials } })).status;
    };

    const unknown = await fetch(`${project.cloneUrl}/${refs}`);
    expect([unknown.status, unknown.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="GitLab"']);
    expect(await status(`${project.cloneUrl}/${refs}`, "wrong")).toBe(401);
    expect(await status(`${gitlab.url}/no/where.git/${refs}`, bot.token)).toBe(404);
    expect(await status(`${project.cloneUrl}/${refs}`, ann.token)).toBe(200);
    expect(await status(`${project.cloneUrl}/${pushRefs}`, ann.token)).toBe(403);
    expect(await status(`${project.cloneUrl}/${pushRefs}`, bot.token)).toBe(200);
    expect(await status(`${project.cloneUrl}/${pushRefs}`, gitlab.addToken(bot, "read_repository"))).toBe(403);
    expect(await status(`${project.cloneUrl}/${refs}`, gitlab.addToken(bot, "read_api"))).toBe(403);
  });

  it("moves the merge request with its branch", async () => {
    const project = await newProject();
    const before = await gitlab.pushAs(ann, project, "topic", { "a.txt": "1\n" });
    const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic" });
    const clone = await cloned(project, "--branch=topic");

    const pushed = await commit(clone, "b.txt");
    expect((await git(clone, "push", "origin", "HEAD:topic")).code).toBe(0);

    const api = asking(`${gitlab.url}/api/v4`, { "PRIVATE-TOKEN": bot.token });
    const place = `/projects/${project.id}/merge_requests/${mr.iid}`;
    expect((await api("GET", place)).body).toMatchObject({ sha: pushed, diff_refs: { head_sha: pushed } });
    expect((await git(clone, "ls-remote", "origin", `refs/merge-requests/${mr.iid}/head`)).out).toContain(pushed);
    expect((await api("GET", `${place}/versions`)).body).toHaveLength(2);
    expect(gitlab.whatHappened().pushes.at(-1)).toEqual({
      project: project.path,
      user: "bot",
      ref: "refs/heads/topic",
      old: before,
      new: pushed,
    });
  });

  it("moves the merge request a moment later on demand", async () => {
    const project = await newProject({ branches: { topic: { "a.txt": "1\n" } } });
    const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic" });
    gitlab.settings.followsPushes = false;
    const sha = await gitlab.pushAs(ann, project, "topic", { "a.txt": "2\n" });
    gitlab.settings.followsPushes = true;

    expect(mr.versions).toHaveLength(1);
    await gitlab.followPushes();
    expect(mr.versions.map(({ head }) => head)).toEqual([expect.not.stringContaining(sha), sha]);
  });

  it("refuses a stale lease, all of an atomic push, hidden refs, and refs that it is configured to refuse", async () => {
    const project = await newProject();
    const before = await gitlab.pushAs(ann, project, "topic", { "a.txt": "1\n" });
    const clone = await cloned(project, "--branch=topic");
    await commit(clone, "b.txt");
    const now = await gitlab.pushAs(ann, project, "topic", { "a.txt": "2\n" });
    const pushes = gitlab.whatHappened().pushes.length;

    const lease = `--force-with-lease=refs/heads/topic:${before}`;
    expect((await git(clone, "push", "--atomic", lease, "origin", "HEAD:topic", "HEAD:other")).code).not.toBe(0);
    expect((await git(clone, "push", "origin", "HEAD:refs/merge-requests/1/head")).code).not.toBe(0);
    gitlab.settings.acceptsCustomRefs = false;
    expect((await git(clone, "push", "origin", "HEAD:refs/mine/x")).code).not.toBe(0);
    gitlab.settings.acceptsCustomRefs = true;
    gitlab.settings.pushRefusal = "the disk is full";
    expect((await git(clone, "push", "origin", "HEAD:refs/mine/x")).err).toContain("GitLab: the disk is full");
    gitlab.settings.pushRefusal = "";

    expect(gitlab.whatHappened().pushes).toHaveLength(pushes);
    expect(project.branches.get("topic")).toBe(now);
    expect((await git(clone, "push", "origin", "HEAD:refs/mine/x")).code).toBe(0);
  });

  it("rejects pushes of developers to protected branches, and every rewrite of them", async () => {
    const project = await newProject();
    const clone = await cloned(project);
    await commit(clone, "b.txt");
    expect((await git(clone, "push", "origin", "HEAD:main")).err).toContain("not allowed to push code to protected");

    gitlab.setMember(project, bot, maintainer);
    expect((await git(clone, "push", "origin", "HEAD:main")).code).toBe(0);
    await git(clone, "commit", "--amend", "-m", "Rewritten");
    expect((await git(clone, "push", "--force", "origin", "HEAD:main")).err).toContain("not allowed to force push");
  });

  it("accepts only one of two simultaneous pushes, and reports which", async () => {
    const project = await newProject();
    await gitlab.pushAs(ann, project, "topic", { "a.txt": "1\n" });
    const clones = await Promise.all([cloned(project, "--branch=topic"), cloned(project, "--branch=topic")]);
    const shas = await Promise.all(clones.map((clone, n) => commit(clone, `${n}.txt`)));

    const results = await Promise.all(clones.map((clone) => git(clone, "push", "origin", "HEAD:topic")));
    const winner = results.findIndex(({ code }) => code === 0);
    expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(project.branches.get("topic")).toBe(shas[winner]);
  });

  it("brings the head of a fork's merge request to the target", async () => {
    const project = await newProject();
    const fork = await gitlab.addProject({ path: `ann/fork-${names}`, forkOf: project, members: [] });
    const sha = await gitlab.pushAs(ann, fork, "main", { "fork.txt": "fork\n" });
    const mr = await gitlab.openMergeRequest(project, { sourceProject: fork, sourceBranch: "main" });
    const clone = await cloned(project);

    expect((await git(clone, "fetch", "origin", `refs/merge-requests/${mr.iid}/head`)).code).toBe(0);
    expect((await git(clone, "rev-parse", "FETCH_HEAD")).out).toBe(`${sha}\n`);
    expect(mr.sourceProject.id).not.toBe(project.id);
  });
});

describe("faults of git", () => {
  it("fail a clone: unavailable, cut off within the pack, the branch gone meanwhile", async () => {
    const project = await newProject();
    await gitlab.pushAs(ann, project, "topic", { "a.txt": "1\n" });

    gitlab.faults.failNext({ path: "/info/refs", status: 502 });
    expect((await clone(project)).err).toContain("502");
    gitlab.faults.cutReply({ path: "/git-upload-pack", after: 1, afterBytes: 40 });
    expect((await clone(project)).code).not.toBe(0);
    gitlab.faults.before({ path: "/info/refs" }, () => gitlab.deleteBranch(project, "topic"));
    expect((await clone(project, "--branch=topic")).err).toContain("Remote branch topic not found");
    expect((await clone(project)).code).toBe(0);
  });

  it("take a push and lose the reply", async () => {
    const project = await newProject();
    const clone = await cloned(project);
    const sha = await commit(clone, "b.txt");

    gitlab.faults.loseReply({ method: "POST", path: "/git-receive-pack" });
    expect((await git(clone, "push", "origin", "HEAD:topic")).code).not.toBe(0);
    expect(gitlab.whatHappened().pushes.filter((push) => push.new === sha)).toEqual([
      { project: project.path, user: "bot", ref: "refs/heads/topic", old: zeroSha, new: sha },
    ]);
  });
});

function newProject(more: Partial<ProjectDraft> = {}): Promise<Project> {
  return gitlab.addProject({ path: `shop/cart-${++names}`, files: { "README.md": "# Cart\n" }, ...more });
}

async function cloned(project: Project, ...options: readonly string[]): Promise<string> {
  const { code, err, where } = await clone(project, ...options);
  if (code !== 0) throw new Error(err);
  return where;
}

async function clone(project: Project, ...options: readonly string[]) {
  const where = join(directory, `clone-${++names}`);
  const header = `http.extraHeader=Authorization: Basic ${Buffer.from(`oauth2:${bot.token}`).toString("base64")}`;
  return { where, ...(await git(directory, "clone", "-c", header, ...options, project.cloneUrl, where)) };
}

async function commit(clone: string, file: string): Promise<string> {
  await writeFile(join(clone, file), `${file}\n`);
  await git(clone, "add", ".");
  await git(clone, "commit", "-m", `Add ${file}`);
  return (await git(clone, "rev-parse", "HEAD")).out.trim();
}

function git(cwd: string, ...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const person = ["-c", "user.name=Bot", "-c", "user.email=bot@example.com"];
  const child = spawn("git", [...person, ...args], { cwd, env: { ...gitEnvironment(), GIT_TERMINAL_PROMPT: "0" } });
  return new Promise((resolve) => {
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    child.on("close", (code) => resolve({ code: code ?? 1, out, err }));
  });
}
