import { createHash } from "node:crypto";
import { join } from "node:path";
import { ServerTime } from "../web/server-time.ts";
import type { MergeRequest, Note, Project, Push, Scope, User } from "./model.ts";
import type { Happening } from "./webhook-bodies.ts";

/** The behaviour of the double; may be changed at any time. */
export interface Settings {
  version: string;
  /** New merge requests made by REST have no diff for this number of reads. */
  preparingReads: number;
  /** Diffs of files beyond so many bytes are left out until they are requested one by one, or altogether. */
  collapsedBytes: number;
  tooLargeBytes: number;
  /** Whether refs other than branches and tags may be pushed. */
  acceptsCustomRefs: boolean;
  /** The message with which every push is refused; empty: pushes are accepted. */
  pushRefusal: string;
  /** Whether merge requests move with their branches at once; GitLab itself takes a moment. */
  followsPushes: boolean;
}

/** The state of the double. */
export class World {
  readonly time = new ServerTime();
  readonly settings: Settings = {
    version: "17.11.0-ee",
    preparingReads: 0,
    collapsedBytes: 20_480,
    tooLargeBytes: 204_800,
    acceptsCustomRefs: true,
    pushRefusal: "",
    followsPushes: true,
  };
  readonly users: User[] = [];
  /** Ids of users whom an administrator has blocked. */
  readonly blocked = new Set<number>();
  /** By id of the user, the day on which their memberships end. */
  readonly expiries = new Map<number, string>();
  readonly tokens = new Map<string, { user: User; scope: Scope; isRevoked: boolean }>();
  readonly projects: Project[] = [];
  readonly pushes: Push[] = [];
  /** Updates of merge requests after pushes that are still to be applied. */
  readonly notFollowed: (() => Promise<void>)[] = [];
  /** Where its repositories are, each under its project's path. */
  readonly root: string;
  /** Set once the server listens. */
  url = "";
  /** The receivers of webhooks. */
  sendWebhook: (happening: Happening) => void = () => {};
  #projectsByName = new Map<string, Project>();
  #lastId = 100;

  constructor(root: string) {
    this.root = root;
  }

  nextId(): number {
    return ++this.#lastId;
  }

  nextDiscussionId(): string {
    return createHash("sha1").update(`discussion ${this.nextId()}`).digest("hex");
  }

  /** By id or path. */
  project(name: string): Project | undefined {
    return this.#projectsByName.get(name);
  }

  addProject(project: Project): void {
    this.projects.push(project);
    this.#projectsByName.set(String(project.id), project).set(project.path, project);
  }

  directoryOf(path: string): string {
    return join(this.root, `${path}.git`);
  }

  addUser(username: string, { isAdmin = false, token = `glpat-${username}` } = {}): User {
    const id = this.nextId();
    const user = { id, username, name: username, email: `${username}@example.com`, isAdmin, token };
    this.users.push(user);
    this.addToken(user, "api", token);
    return user;
  }

  addToken(user: User, scope: Scope, token = `glpat-${user.username}-${this.nextId()}`): string {
    this.tokens.set(token, { user, scope, isRevoked: false });
    return token;
  }

  /** All notes, system notes and deleted ones included, oldest first. */
  notesOf(mr: MergeRequest): Note[] {
    return mr.discussions.flatMap(({ notes }) => notes);
  }
}
