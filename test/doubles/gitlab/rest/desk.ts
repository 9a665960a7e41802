import { createHash } from "node:crypto";
import { basicCredentials, type Call, type Handler, Refusal, type Reply } from "../../web/call.ts";
import type { Route } from "../../web/router.ts";
import { type Discussion, levelOf, type MergeRequest, type Note, type Project, type User } from "../model.ts";
import { withoutDeleted } from "../notes.ts";
import type { World } from "../world.ts";
import { type Input, inputOf, invalid } from "./input.ts";

/** A request with its authenticated user and its project. */
export interface Visit {
  readonly world: World;
  readonly call: Call;
  readonly input: Input;
  readonly user: User;
}

export interface ProjectVisit extends Visit {
  readonly project: Project;
  readonly level: number;
}

export interface MergeRequestVisit extends ProjectVisit {
  readonly mr: MergeRequest;
}

const prefix = "/api/v4";

/** A route for those who have shown a token. */
export function signedIn(method: string, template: string, world: World, serve: (visit: Visit) => Answer): Route {
  const handler: Handler = async (call) => {
    const user = userOf(world, call);
    return withEtag(call, await serve({ world, call, user, input: inputOf(call) }));
  };
  return { method, template: prefix + template, handler };
}

type Answer = Reply | Promise<Reply>;

/** A route about one project, for those who may see it. */
export function inProject(method: string, rest: string, world: World, serve: (visit: ProjectVisit) => Answer): Route {
  return signedIn(method, `/projects/:id${rest}`, world, (visit) => {
    const project = world.project(visit.call.params["id"] ?? "");
    const level = project ? levelOf(project, visit.user) : 0;
    if (!project || (level === 0 && project.visibility === "private")) throw missing("Project");
    return serve({ ...visit, project, level });
  });
}

/** A route about one merge request. */
export function inMergeRequest(
  method: string,
  rest: string,
  world: World,
  serve: (visit: MergeRequestVisit) => Answer,
): Route {
  return inProject(method, `/merge_requests/:iid${rest}`, world, (visit) => {
    const mr = visit.project.mergeRequests.find(({ iid }) => String(iid) === visit.call.params["iid"]);
    if (!mr) throw missing();
    return serve({ ...visit, mr });
  });
}

/** Refuses those whose access does not go so far. */
export function demand({ level }: ProjectVisit, needed: number): void {
  if (level < needed) throw forbidden();
}

export function forbidden(): Refusal {
  return new Refusal(403, { message: "403 Forbidden" });
}

/** `404 Project Not Found`, `404 Not found`. */
export function missing(what?: string): Refusal {
  return new Refusal(404, { message: what === undefined ? "404 Not found" : `404 ${what} Not Found` });
}

export function badRequest(why: string): Refusal {
  return new Refusal(400, { message: `400 Bad request - ${why}` });
}

export function noteOf({ mr, call }: MergeRequestVisit): Note {
  const notes = mr.discussions.flatMap((discussion) => discussion.notes);
  const note = notes.find(({ id, isDeleted }) => String(id) === call.params["note"] && !isDeleted);
  if (!note) throw missing();
  return note;
}

export function discussionNamed({ mr, call }: MergeRequestVisit): Discussion {
  const discussion = mr.discussions.find(({ id }) => id === call.params["discussion"]);
  if (!discussion || withoutDeleted(discussion).notes.length === 0) throw missing("Discussion");
  return discussion;
}

function userOf({ tokens }: World, call: Call): User {
  const token = tokens.get(tokenIn(call));
  if (!token) throw new Refusal(401, { message: "401 Unauthorized" });
  if (token.isRevoked) {
    const error_description = "Token was revoked. You have to re-authorize from the user.";
    throw new Refusal(401, { error: "invalid_token", error_description });
  }
  const isReading = call.method === "GET" || call.method === "HEAD";
  if (token.scope === "api" || (token.scope === "read_api" && isReading)) return token.user;
  const error_description = "The request requires higher privileges than provided by the access token.";
  throw new Refusal(403, { error: "insufficient_scope", error_description, scope: "api" });
}

function tokenIn(call: Call): string {
  const own = call.headers["private-token"];
  if (typeof own === "string") return own;
  const [, bearer] = /^Bearer (.+)$/i.exec(call.headers.authorization ?? "") ?? [];
  return bearer ?? call.query.get("private_token") ?? basicCredentials(call)?.password ?? "";
}

function withEtag(call: Call, reply: Reply): Reply {
  if (call.method !== "GET" || reply.status !== 200 || typeof reply.body !== "object") return reply;
  const body = JSON.stringify(reply.body);
  const etag = `W/"${createHash("md5").update(body).digest("hex")}"`;
  const headers = { ...reply.headers, ETag: etag, "Cache-Control": "max-age=0, private, must-revalidate" };
  if (call.headers["if-none-match"] === etag) return { status: 304, headers };
  return { status: 200, headers: { ...headers, "Content-Type": "application/json" }, body };
}

/** One page of a list, at most a hundred of it, and where the others are. */
export function page<T>({ call, input, world }: Visit, items: readonly T[], view: (item: T) => unknown): Reply {
  const size = Math.min(input.number("per_page") ?? 20, 100);
  const at = input.number("page") ?? 1;
  if (size < 1) throw invalid("per_page does not have a valid value");
  if (at < 1) throw invalid("page does not have a valid value");
  const last = Math.max(1, Math.ceil(items.length / size));
  const pageUrl = (number: number) => {
    const query = new URLSearchParams(call.query);
    query.set("page", String(number));
    query.set("per_page", String(size));
    return `${world.url}${call.path}?${query}`;
  };
  const links = { prev: at > 1 ? at - 1 : 0, next: at < last ? at + 1 : 0, first: 1, last };
  return {
    status: 200,
    body: items.slice((at - 1) * size, at * size).map(view),
    headers: {
      "x-page": String(at),
      "x-per-page": String(size),
      "x-prev-page": links.prev > 0 ? String(links.prev) : "",
      "x-next-page": links.next > 0 ? String(links.next) : "",
      "x-total": String(items.length),
      "x-total-pages": String(last),
      Link: Object.entries(links)
        .filter(([, number]) => number > 0)
        .map(([name, number]) => `<${pageUrl(number)}>; rel="${name}"`)
        .join(", "),
    },
  };
}
