import { ServerTime } from "../web/server-time.ts";
import type { AdfNode } from "./adf.ts";

export interface JiraUser {
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
  readonly token: string;
  /** A user who may read and change nothing. */
  readonly isReadOnly: boolean;
}

export interface Status {
  readonly id: string;
  readonly name: string;
  readonly category: "new" | "indeterminate" | "done";
}

export interface Transition {
  readonly id: string;
  /** Seldom the name of the status that it leads to. */
  readonly name: string;
  /** Undefined: from anywhere else. */
  readonly from?: string;
  readonly to: string;
  /** Fields that must come with it. */
  readonly requires?: readonly string[];
}

export interface Workflow {
  readonly statuses: readonly Status[];
  readonly transitions: readonly Transition[];
}

export interface JiraProject {
  readonly id: string;
  readonly key: string;
  readonly workflow: Workflow;
}

export interface Issue {
  readonly id: string;
  readonly key: string;
  readonly project: JiraProject;
  summary: string;
  description: AdfNode | null;
  status: string;
  labels: string[];
  readonly reporter: JiraUser;
  assignee: JiraUser | undefined;
  readonly createdMs: number;
  updatedMs: number;
  readonly comments: Comment[];
  readonly moves: Move[];
  /** The former states with their times, for a search index that lags. */
  readonly past: { readonly fromMs: number; readonly status: string; readonly updatedMs: number }[];
}

export interface Comment {
  readonly id: string;
  readonly author: JiraUser;
  body: AdfNode;
  readonly earlierBodies: AdfNode[];
  readonly createdMs: number;
  updatedMs: number;
  isDeleted: boolean;
}

export interface Move {
  readonly id: string;
  readonly by: JiraUser;
  readonly from: string;
  readonly to: string;
  readonly atMs: number;
}

/** To Do → In Progress → In Review → Done, and back; no transition is called like the status behind it. */
export const plainWorkflow: Workflow = {
  statuses: [
    { id: "10000", name: "To Do", category: "new" },
    { id: "10001", name: "In Progress", category: "indeterminate" },
    { id: "10002", name: "In Review", category: "indeterminate" },
    { id: "10003", name: "Done", category: "done" },
  ],
  transitions: [
    { id: "11", name: "Put back", to: "To Do" },
    { id: "21", name: "Start work", from: "To Do", to: "In Progress" },
    { id: "31", name: "Ask for review", from: "In Progress", to: "In Review" },
    { id: "41", name: "Finish", from: "In Review", to: "Done" },
  ],
};

/** The state of the double. */
export class JiraWorld {
  readonly time = new ServerTime();
  readonly users: JiraUser[] = [];
  readonly projects: JiraProject[] = [];
  readonly issues: Issue[] = [];
  /** Searches see issues as they were so long ago. */
  indexLagMs = 0;
  url = "";
  #lastId = 10_100;

  nextId(): string {
    return String(++this.#lastId);
  }

  issue(name: string): Issue | undefined {
    return this.issues.find(({ id, key }) => id === name || key === name.toUpperCase());
  }

  /** The transitions from the current status of the issue. */
  transitionsOf({ project, status }: Issue): Transition[] {
    return project.workflow.transitions.filter(({ from, to }) => (from ?? status) === status && to !== status);
  }

  move(issue: Issue, by: JiraUser, to: string): void {
    const atMs = this.time.nowMs();
    issue.moves.push({ id: this.nextId(), by, from: issue.status, to, atMs });
    issue.status = to;
    this.touch(issue);
  }

  addComment(issue: Issue, author: JiraUser, body: AdfNode): Comment {
    const atMs = this.time.nowMs();
    const comment = { id: this.nextId(), author, body, earlierBodies: [], createdMs: atMs, updatedMs: atMs };
    issue.comments.push({ ...comment, isDeleted: false });
    this.touch(issue);
    return issue.comments.at(-1) as Comment;
  }

  touch(issue: Issue): void {
    issue.updatedMs = this.time.nowMs();
    issue.past.push({ fromMs: issue.updatedMs, status: issue.status, updatedMs: issue.updatedMs });
  }

  /** The issue as searches see it; undefined: they do not yet. */
  indexed(issue: Issue): { readonly status: string; readonly updatedMs: number } | undefined {
    const seenMs = this.time.nowMs() - this.indexLagMs;
    return issue.past.findLast(({ fromMs }) => fromMs <= seenMs);
  }

  /** `2026-11-15T16:00:00.000+0200` */
  date(atMs: number): string {
    return this.time.iso(atMs).replace(/(Z|[+-]\d\d:\d\d)$/, this.time.offset(""));
  }
}
