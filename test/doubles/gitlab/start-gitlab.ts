import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Router } from "../web/router.ts";
import { startWebDouble, type WebDouble } from "../web/web-double.ts";
import { gitHttp } from "./git-http.ts";
import {
  changeMergeRequest,
  type MergeRequestChange,
  type MergeRequestDraft,
  mergeMergeRequest,
  openMergeRequest,
} from "./merge-requests.ts";
import { type Discussion, developer, type MergeRequest, type Note, owner, type Project, type User } from "./model.ts";
import { addNote, changeNote, discussionOf, reply, startDiscussion } from "./notes.ts";
import { type CommitDraft, deleteBranch, pushFiles } from "./pushes.ts";
import { type FileChanges, Repository } from "./repository.ts";
import { writeHooks, writeRepository } from "./repository-template.ts";
import { changes } from "./rest/changes.ts";
import { conversation } from "./rest/conversation.ts";
import { mergeRequests } from "./rest/merge-requests.ts";
import { peopleAndProjects } from "./rest/people-and-projects.ts";
import { repository } from "./rest/repository.ts";
import { type OtherNote, otherNoteHappening, pipelineHappening } from "./webhook-bodies.ts";
import { Webhooks } from "./webhooks.ts";
import { whatHappened } from "./witness.ts";
import { World } from "./world.ts";

export interface ProjectDraft {
  /** With its groups: `shop/cart`. */
  readonly path: string;
  readonly files?: FileChanges;
  /** One commit on top of the default branch each. */
  readonly branches?: Readonly<Record<string, FileChanges>>;
  /** Access levels by user; developer for all existing users if left out. */
  readonly members?: readonly { readonly user: User; readonly level: number }[];
  readonly visibility?: "private" | "public";
  readonly defaultBranch?: string;
  /** Only maintainers push to these; the default branch if left out. */
  readonly protectedBranches?: readonly string[];
  /** Begins with the branches of this one instead. */
  readonly forkOf?: Project;
}

/** A double of GitLab: REST, git over HTTP and webhooks, with actions of users and injected faults. */
export class GitLabDouble implements AsyncDisposable {
  readonly webhooks: Webhooks;
  /** Does everything that no user is named for. */
  readonly root: User;
  readonly #world: World;
  readonly #web: WebDouble;

  constructor(world: World, web: WebDouble) {
    this.#world = world;
    this.#web = web;
    this.webhooks = new Webhooks(world);
    this.root = world.addUser("root", { isAdmin: true });
  }

  /** `http://127.0.0.1:port`; REST is under `/api/v4`. */
  get url() {
    return this.#web.url;
  }

  get faults() {
    return this.#web.faults;
  }

  get requests() {
    return this.#web.requests;
  }

  get settings() {
    return this.#world.settings;
  }

  get time() {
    return this.#world.time;
  }

  whatHappened() {
    return whatHappened(this.#world);
  }

  addUser(username: string, options: { token?: string } = {}): User {
    return this.#world.addUser(username, options);
  }

  /** Blocks a user as an administrator does: the user stays a member without any rights. */
  block(user: User): void {
    this.#world.blocked.add(user.id);
  }

  /** The user's memberships end on this day; GitLab removes them later. */
  expire(user: User, day: string): void {
    this.#world.expiries.set(user.id, day);
  }

  /** Another token of the user, which can do less. */
  addToken(...args: Parameters<World["addToken"]>): string {
    return this.#world.addToken(...args);
  }

  revokeToken(token: string): void {
    const known = this.#world.tokens.get(token);
    if (known) known.isRevoked = true;
  }

  async addProject(draft: ProjectDraft): Promise<Project> {
    const { path, defaultBranch = "main", forkOf } = draft;
    const world = this.#world;
    const directory = world.directoryOf(path);
    await writeRepository(directory, defaultBranch, join(world.root, "hooks"));
    const members = draft.members ?? world.users.map((user) => ({ user, level: developer }));
    const project: Project = {
      id: world.nextId(),
      path,
      defaultBranch,
      visibility: draft.visibility ?? "private",
      repository: new Repository(directory),
      cloneUrl: `${this.url}/${path}.git`,
      webUrl: `${this.url}/${path}`,
      members: new Map([[this.root.id, owner], ...members.map(({ user, level }) => [user.id, level] as const)]),
      branches: new Map(),
      protectedBranches: new Set(draft.protectedBranches ?? [defaultBranch]),
      mergeRequests: [],
      forkedFrom: forkOf,
    };
    world.addProject(project);
    if (forkOf) await this.#copyBranches(forkOf, project);
    else await this.#begin(project, draft);
    return project;
  }

  setMember(project: Project, user: User, level: number): void {
    if (level === 0) project.members.delete(user.id);
    else project.members.set(user.id, level);
  }

  openMergeRequest(project: Project, draft: MergeRequestDraft & { readonly author?: User }): Promise<MergeRequest> {
    return openMergeRequest(this.#world, project, draft.author ?? this.root, draft);
  }

  changeMergeRequest(mr: MergeRequest, change: MergeRequestChange, user: User = this.root): Promise<void> {
    return changeMergeRequest(this.#world, mr, user, change);
  }

  merge(mr: MergeRequest, user: User = this.root): Promise<boolean> {
    return mergeMergeRequest(this.#world, mr, user);
  }

  /** A note by itself. */
  commentOn(mr: MergeRequest, author: User, body: string, options: { isInternal?: boolean } = {}): Promise<Note> {
    return addNote(this.#world, mr, { author, body, ...options });
  }

  /** A thread. */
  discuss(mr: MergeRequest, author: User, body: string): Promise<Discussion> {
    return startDiscussion(this.#world, mr, { author, body });
  }

  /** An answer to a note, in its thread. */
  replyTo(mr: MergeRequest, note: Note, author: User, body: string): Promise<Note> {
    return reply(this.#world, mr, discussionOf(mr, note), { author, body });
  }

  editComment(mr: MergeRequest, note: Note, body: string): Promise<void> {
    return changeNote(this.#world, mr, note, body);
  }

  /** A comment elsewhere than on a merge request. Only webhooks report it. */
  commentElsewhere(project: Project, note: OtherNote): void {
    this.#world.sendWebhook(otherNoteHappening(this.#world, project, note));
  }

  runPipeline(project: Project, branch: string, status = "success"): void {
    this.#world.sendWebhook(pipelineHappening(project, this.root, branch, status));
  }

  /** One commit on top of the branch, or of `from`; resolves to its hash. */
  pushAs(user: User, project: Project, branch: string, files: FileChanges, draft: CommitDraft = {}): Promise<string> {
    return pushFiles(this.#world, project, user, { ...draft, branch, files });
  }

  /** Applies the pushes that merge requests have missed while `settings.followsPushes` was off. */
  async followPushes(): Promise<void> {
    for (const follow of this.#world.notFollowed.splice(0)) await follow();
  }

  deleteBranch(project: Project, branch: string, user: User = this.root): Promise<void> {
    return deleteBranch(this.#world, project, user, branch);
  }

  async close(): Promise<void> {
    await this.webhooks.close();
    await this.#web.close();
    await rm(this.#world.root, { recursive: true, force: true, maxRetries: 3 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** All that there is at first, in one go. */
  async #begin(project: Project, { files, branches = {} }: ProjectDraft): Promise<void> {
    const { root: author } = this;
    const atMs = this.time.nowMs();
    const first = files ?? { "README.md": `# ${project.path}\n` };
    const main = { branch: project.defaultBranch, from: undefined, files: first, message: "Begin", author, atMs };
    const others = Object.entries(branches).map(([branch, changes]) => ({
      ...main,
      branch,
      from: ":1",
      files: changes,
      message: `Begin ${branch}`,
    }));
    const all = [main, ...others];
    const shas = await project.repository.addAll(all);
    for (const [at, { branch }] of all.entries()) project.branches.set(branch, shas[at] ?? "");
  }

  async #copyBranches(from: Project, to: Project): Promise<void> {
    for (const [branch, sha] of from.branches) {
      await to.repository.fetch(from.repository, sha);
      await to.repository.setRef(`refs/heads/${branch}`, sha);
      to.branches.set(branch, sha);
    }
  }
}

export async function startGitLab(): Promise<GitLabDouble> {
  const world = new World(await mkdtemp(join(tmpdir(), "gitlab-double-")));
  await writeHooks(join(world.root, "hooks"));
  const areas = [peopleAndProjects, mergeRequests, changes, conversation, repository];
  const web = await startWebDouble({
    router: new Router(areas.flatMap((area) => area(world))),
    time: world.time,
    notFound: () => ({ status: 404, body: { error: "404 Not Found" } }),
    special: gitHttp(world),
  });
  world.url = web.url;
  return new GitLabDouble(world, web);
}
