import type { Repository } from "./repository.ts";

/** GitLab's access levels. */
export const guest = 10;
export const reporter = 20;
export const developer = 30;
export const maintainer = 40;
export const owner = 50;

export interface User {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly isAdmin: boolean;
  /** One that may do everything the user may. */
  readonly token: string;
}

/** `read_api` reads by REST, `read_repository` clones, `write_repository` pushes as well; `api` does all. */
export type Scope = "api" | "read_api" | "read_repository" | "write_repository";

export interface Project {
  readonly id: number;
  readonly path: string;
  readonly defaultBranch: string;
  readonly visibility: "private" | "public";
  readonly repository: Repository;
  readonly cloneUrl: string;
  readonly webUrl: string;
  readonly members: Map<number, number>;
  /** The head of each branch. */
  readonly branches: Map<string, string>;
  /** Only maintainers push to these, and they cannot be rewritten. */
  readonly protectedBranches: Set<string>;
  readonly mergeRequests: MergeRequest[];
  readonly forkedFrom: Project | undefined;
}

export interface MergeRequest {
  readonly id: number;
  readonly iid: number;
  readonly project: Project;
  readonly sourceProject: Project;
  readonly sourceBranch: string;
  targetBranch: string;
  title: string;
  description: string;
  state: "opened" | "closed" | "merged";
  labels: string[];
  readonly author: User;
  /** Oldest first. */
  readonly versions: Version[];
  readonly discussions: Discussion[];
  /** Of the next reads, so many see a merge request whose diff is still being worked out. */
  preparingReads: number;
  readonly createdMs: number;
  updatedMs: number;
  closedBy?: User;
  mergedBy?: User;
  mergeCommitSha?: string;
}

/** The pushed commit, and the head of the target branch at that time. */
export interface Version {
  readonly id: number;
  readonly head: string;
  readonly start: string;
  readonly createdMs: number;
}

export interface Discussion {
  readonly id: string;
  isIndividual: boolean;
  readonly notes: Note[];
}

export interface Note {
  readonly id: number;
  type: "DiscussionNote" | "DiffNote" | null;
  body: string;
  readonly author: User;
  readonly isSystem: boolean;
  readonly isInternal: boolean;
  readonly position: Position | undefined;
  readonly createdMs: number;
  updatedMs: number;
  /** Bodies that it had before, oldest first. */
  readonly earlierBodies: string[];
  isDeleted: boolean;
  resolved?: { readonly by: User; readonly atMs: number };
  readonly awards: Award[];
}

export interface Award {
  readonly id: number;
  readonly name: string;
  readonly user: User;
  readonly createdMs: number;
}

/** The position of a note in a diff, with the field names of GitLab. */
export interface Position {
  readonly base_sha: string;
  readonly start_sha: string;
  readonly head_sha: string;
  readonly position_type: string;
  readonly old_path: string;
  readonly new_path: string;
  readonly old_line: number | null;
  readonly new_line: number | null;
}

export interface Push {
  readonly project: Project;
  readonly user: User;
  readonly ref: string;
  /** Forty zeros: there was none. */
  readonly old: string;
  readonly new: string;
  readonly atMs: number;
}

export const zeroSha = "0".repeat(40);

export function headOf(mr: MergeRequest): Version | undefined {
  return mr.versions.at(-1);
}

export function isDraft({ title }: MergeRequest): boolean {
  return /^(draft:|\[draft\]|\(draft\))/i.test(title);
}

export function levelOf(project: Project, user: User): number {
  return user.isAdmin ? owner : (project.members.get(user.id) ?? 0);
}
