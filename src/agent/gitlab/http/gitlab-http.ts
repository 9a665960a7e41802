import type { z } from "../../../schema/index.ts";
import { isRemoteError, RemoteError, unlessMissing } from "../../remote-error.ts";
import { parseResponse, type Rest, type RestRequest, restClient, type ServerOptions } from "../../rest/rest-client.ts";
import type { GitLab, GitLabUser, MergeRequest, MergeRequestDraft, MergeRequestRef, Position } from "../gitlab.ts";
import { readChanges } from "./changes.ts";
import { discussionSchema, memberSchema, mergeRequestSchema, noteSchema, projectSchema, userSchema } from "./decode.ts";
import { mergeRequestsSince } from "./merge-requests-since.ts";
import { readPages } from "./pages.ts";

/** GitLab over its REST API v4. */
export function gitlabHttp(options: ServerOptions): GitLab {
  const rest = restClient({
    ...options,
    name: "GitLab",
    basePath: "api/v4",
    credentials: (token) => ({ headers: { "PRIVATE-TOKEN": token }, secrets: [token] }),
    fixes,
  });
  const read: Read = async (what, schema, request) =>
    parseResponse(schema, (await rest(request)).body, `GitLab's ${what}`);
  return {
    host: new URL(options.url).host,
    ...accountCalls(read, options),
    ...mergeRequestCalls(read, rest),
    ...discussionCalls(read, rest),
  };
}

const fixes = {
  401: "replace gitlab.token (GITLAB_TOKEN): it is invalid, expired or revoked",
  403: "the agent's user needs the role Developer in the project, and its token the scopes api and write_repository",
};

/** Requests one thing, and checks the response. `what` is its name in errors. */
type Read = <S extends z.ZodType>(what: string, schema: S, request: RestRequest) => Promise<z.output<S>>;

function accountCalls(
  read: Read,
  { token: currentToken, clock }: Pick<ServerOptions, "token" | "clock">,
): Pick<GitLab, "self" | "project" | "accessLevel"> {
  // The user of a token never changes.
  let us: { readonly token: string; readonly user: GitLabUser } | undefined;
  return {
    async self(signal) {
      const token = await currentToken({ refused: false });
      if (us?.token !== token)
        us = { token, user: await read("user", userSchema, { method: "GET", path: "user", signal }) };
      return us.user;
    },
    async project(id, signal) {
      const path = `projects/${encodeURIComponent(id)}`;
      const project = await unlessMissing(read("project", projectSchema, { method: "GET", path, signal }));
      if (project) return project;
      const fix = "correct its name, or make the agent's user a member";
      throw new RemoteError("missing", `GitLab shows no project ${id} to the agent's user; ${fix}`, { status: 404 });
    },
    async accessLevel(projectId, userId, signal) {
      const path = `projects/${projectId}/members/all/${userId}`;
      const member = await unlessMissing(read("member", memberSchema, { method: "GET", path, signal }));
      const isExpired = member?.expiresAt !== undefined && !(Date.parse(member.expiresAt) > clock.wallMs());
      return member && !isExpired ? member.level : 0;
    },
  };
}

function mergeRequestCalls(
  read: Read,
  rest: Rest,
): Pick<GitLab, "mergeRequest" | "mergeRequestsSince" | "createMergeRequest" | "changes"> {
  return {
    async mergeRequest(ref, signal) {
      return await read("merge request", mergeRequestSchema, { method: "GET", path: mergeRequestPath(ref), signal });
    },
    mergeRequestsSince: (projectId, since, signal) => mergeRequestsSince(rest, projectId, { ...since, signal }),
    async createMergeRequest(projectId, draft, signal) {
      const { sourceBranch, targetBranch, title, description } = draft;
      const body = { source_branch: sourceBranch, target_branch: targetBranch, title, description };
      const path = `projects/${projectId}/merge_requests`;
      try {
        return await read("merge request", mergeRequestSchema, { method: "POST", path, body, signal });
      } catch (error) {
        const adopted =
          isRemoteError(error) && error.status === 409 ? await findOpen(rest, projectId, draft, signal) : undefined;
        if (adopted) return adopted;
        throw error;
      }
    },
    changes: (ref, signal) => readChanges(rest, mergeRequestPath(ref), signal),
  };
}

/** Returns the open merge request of the branch. */
async function findOpen(
  rest: Rest,
  projectId: number,
  { sourceBranch, targetBranch }: MergeRequestDraft,
  signal?: AbortSignal,
) {
  const query = { state: "opened", scope: "all", source_branch: sourceBranch, order_by: "created_at", sort: "asc" };
  const path = `projects/${projectId}/merge_requests`;
  const open = await readPages(rest, { path, what: "merge requests", item: mergeRequestSchema, query, signal });
  // A fork can have a branch of the same name.
  const isOurs = (each: MergeRequest) => each.sourceBranch === sourceBranch && each.sourceProjectId === projectId;
  return open.find((each) => isOurs(each) && each.targetBranch === targetBranch);
}

function discussionCalls(
  read: Read,
  rest: Rest,
): Pick<GitLab, "notesSince" | "discussions" | "startDiscussion" | "addNote" | "changeNote" | "deleteNote" | "award"> {
  return {
    async notesSince(ref, from, signal) {
      // GitLab cannot filter notes by time: they are read newest first, until they are old enough.
      const query = { order_by: "created_at", sort: "desc" };
      const list = { path: `${mergeRequestPath(ref)}/notes`, what: "notes", item: noteSchema, query, signal };
      const isNew = (note: { readonly createdAt: string }) => Date.parse(note.createdAt) >= Date.parse(from);
      const read = await readPages(rest, list, ({ items }) => items.some((note) => !isNew(note)));
      const notes = new Map(read.map((note) => [note.id, note]));
      return [...notes.values()].filter((note) => !note.system && isNew(note)).toSorted(byAge);
    },
    async discussions(ref, signal) {
      const path = `${mergeRequestPath(ref)}/discussions`;
      const list = { path, what: "discussions", item: discussionSchema, signal };
      const found = new Map((await readPages(rest, list)).map((each) => [each.id, each]));
      return [...found.values()];
    },
    async startDiscussion(ref, { body, position }, signal) {
      const path = `${mergeRequestPath(ref)}/discussions`;
      const draft = { body, position: toWirePosition(position) };
      return await read("discussion", discussionSchema, { method: "POST", path, body: draft, signal });
    },
    async addNote(ref, body, discussionId, signal) {
      const thread = discussionId === undefined ? "" : `/discussions/${encodeURIComponent(discussionId)}`;
      const path = `${mergeRequestPath(ref)}${thread}/notes`;
      const note = await read("note", noteSchema, { method: "POST", path, body: { body }, signal });
      return discussionId === undefined ? note : { ...note, discussionId };
    },
    async changeNote(ref, noteId, body, signal) {
      await rest({ method: "PUT", path: `${mergeRequestPath(ref)}/notes/${noteId}`, body: { body }, signal });
    },
    async deleteNote(ref, noteId, signal) {
      await unlessMissing(rest({ method: "DELETE", path: `${mergeRequestPath(ref)}/notes/${noteId}`, signal }));
    },
    async award(ref, noteId, emoji, signal) {
      const path = `${mergeRequestPath(ref)}/notes/${noteId}/award_emoji`;
      try {
        await rest({ method: "POST", path, body: { name: emoji }, signal });
      } catch (error) {
        // GitLab responds with 404 to an award that exists.
        if (!(isRemoteError(error) && /already been taken/i.test(error.message))) throw error;
      }
    },
  };
}

function mergeRequestPath({ projectId, iid }: MergeRequestRef): string {
  return `projects/${projectId}/merge_requests/${iid}`;
}

function toWirePosition({ baseSha, startSha, headSha, oldPath, newPath, oldLine, newLine }: Position) {
  const refs = { base_sha: baseSha, start_sha: startSha, head_sha: headSha };
  const lines = {
    ...(oldLine !== undefined && { old_line: oldLine }),
    ...(newLine !== undefined && { new_line: newLine }),
  };
  return { position_type: "text", ...refs, old_path: oldPath, new_path: newPath, ...lines };
}

function byAge(one: { createdAt: string; id: number }, other: { createdAt: string; id: number }): number {
  return Date.parse(one.createdAt) - Date.parse(other.createdAt) || one.id - other.id;
}
