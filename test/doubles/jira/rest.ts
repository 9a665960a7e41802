import { basicCredentials, type Call, jsonOf, Refusal, type Reply } from "../web/call.ts";
import type { Route } from "../web/router.ts";
import { type AdfNode, isDocument } from "./adf.ts";
import { badJql, search } from "./jql.ts";
import type { Comment, Issue, JiraUser, JiraWorld } from "./model.ts";
import { commentView, issueView, moveView, transitionView, userView } from "./views.ts";

interface Visit {
  readonly world: JiraWorld;
  readonly call: Call;
  readonly user: JiraUser;
}

interface IssueVisit extends Visit {
  readonly issue: Issue;
}

type Answer = Reply | Promise<Reply>;

/** The part of Jira Cloud's REST API v3 that the tests need. */
export function jiraRoutes(world: JiraWorld): Route[] {
  const signedIn = (method: string, path: string, serve: (visit: Visit) => Answer): Route => ({
    method,
    template: `/rest/api/3${path}`,
    handler: (call) => serve({ world, call, user: userOf(world, call) }),
  });
  const ofIssue = (method: string, rest: string, serve: (visit: IssueVisit) => Answer): Route =>
    signedIn(method, `/issue/:issue${rest}`, (visit) => serve({ ...visit, issue: issueOf(visit) }));
  return [
    signedIn("GET", "/myself", ({ user }) => ({ status: 200, body: userView(user) })),
    signedIn("GET", "/serverInfo", () => ({
      status: 200,
      body: {
        baseUrl: world.url,
        deploymentType: "Cloud",
        version: "1001.0.0",
        serverTime: world.date(world.time.nowMs()),
      },
    })),
    signedIn("GET", "/search/jql", (visit) => found(visit, Object.fromEntries(visit.call.query))),
    signedIn("POST", "/search/jql", (visit) => found(visit, jsonOf(visit.call, badBody))),
    ofIssue("GET", "", showIssue),
    ofIssue("GET", "/changelog", (visit) =>
      listed(visit, "values", visit.issue.moves, (move) => moveView(world, visit.issue, move)),
    ),
    ofIssue("GET", "/transitions", ({ issue }) => ({
      status: 200,
      body: { expand: "transitions", transitions: world.transitionsOf(issue).map((way) => transitionView(issue, way)) },
    })),
    ofIssue("POST", "/transitions", move),
    ofIssue("GET", "/comment", (visit) =>
      listed(visit, "comments", livingComments(visit), (comment) => commentView(world, comment)),
    ),
    ofIssue("POST", "/comment", addComment),
    ofIssue("GET", "/comment/:comment", (visit) => ({ status: 200, body: commentView(world, commentOf(visit)) })),
    ofIssue("PUT", "/comment/:comment", changeComment),
    ofIssue("DELETE", "/comment/:comment", removeComment),
  ];
}

function userOf({ users }: JiraWorld, call: Call): JiraUser {
  const { name, password } = basicCredentials(call) ?? {};
  const user = users.find(({ email, token }) => email === name && token === password);
  if (!user)
    throw new Refusal(401, "Client must be authenticated to access this resource.", { "Content-Type": "text/html" });
  if (user.isReadOnly && call.method !== "GET" && !call.path.endsWith("/search/jql")) throw forbidden();
  return user;
}

function refusal(status: number, message: string, errors: object = {}): Refusal {
  return new Refusal(status, { errorMessages: [message], errors });
}

function forbidden(): Refusal {
  return refusal(403, "You do not have permission to do this.");
}

function badBody(why: string): Refusal {
  return refusal(400, `There was an error parsing JSON: ${why}`);
}

function issueOf({ world, call }: Visit): Issue {
  const issue = world.issue(call.params["issue"] ?? "");
  if (!issue) throw refusal(404, "Issue does not exist or you do not have permission to see it.");
  return issue;
}

/** Without a total; only requested fields are returned, and pages are found by a token. */
function found({ world, user }: Visit, input: Readonly<Record<string, unknown>>): Reply {
  const jql = String(input["jql"] ?? "");
  const fields = namesOf(input["fields"]);
  const size = Math.min(Number(input["maxResults"] ?? 50), 100);
  const from = input["nextPageToken"] === undefined ? 0 : placeIn(String(input["nextPageToken"]), jql);
  const issues = search(world, jql, user);
  const isLast = from + size >= issues.length;
  const view = (issue: Issue) => (fields.length === 0 ? { id: issue.id } : issueView(world, issue, fields));
  const next = !isLast && { nextPageToken: tokenFor(from + size, jql) };
  return { status: 200, body: { issues: issues.slice(from, from + size).map(view), isLast, ...next } };
}

function namesOf(value: unknown): string[] {
  const names = Array.isArray(value) ? value.map(String) : String(value ?? "").split(",");
  return names.map((name) => name.trim()).filter((name) => name !== "" && name !== "id" && name !== "key");
}

function tokenFor(place: number, jql: string): string {
  return Buffer.from(JSON.stringify([place, jql])).toString("base64url");
}

function placeIn(token: string, jql: string): number {
  try {
    const [place, of] = JSON.parse(Buffer.from(token, "base64url").toString()) as [number, string];
    if (of === jql) return place;
  } catch {}
  throw badJql("The provided next page token is invalid or expired.");
}

function showIssue({ world, issue, call }: IssueVisit): Reply {
  const fields = namesOf(call.query.get("fields") ?? "*all");
  const moves = issue.moves.toReversed().map((move) => moveView(world, issue, move));
  const changelog = { startAt: 0, maxResults: moves.length, total: moves.length, histories: moves };
  const isExpanded = (call.query.get("expand") ?? "").split(",").includes("changelog");
  return { status: 200, body: { ...issueView(world, issue, fields), ...(isExpanded && { changelog }) } };
}

function move({ world, issue, call, user }: IssueVisit): Reply {
  const { transition, fields = {} } = jsonOf(call, badBody) as MoveInput;
  if (transition?.id === undefined) throw refusal(400, "Missing 'transition' identifier");
  const way = world.transitionsOf(issue).find(({ id }) => id === String(transition.id));
  if (!way) {
    throw refusal(
      400,
      `It seems that you have tried to perform a workflow operation (${transition.id}) that is not valid for the current ` +
        `state of this issue (${issue.key}).`,
    );
  }
  const lacking = (way.requires ?? []).filter((field) => fields[field] === undefined);
  if (lacking.length > 0) {
    const errors = Object.fromEntries(lacking.map((field) => [field, `${field} is required.`]));
    throw new Refusal(400, { errorMessages: [], errors });
  }
  world.move(issue, user, way.to);
  return { status: 204 };
}

interface MoveInput {
  readonly transition?: { readonly id?: unknown };
  readonly fields?: Readonly<Record<string, unknown>>;
}

function addComment({ world, issue, call, user }: IssueVisit): Reply {
  return { status: 201, body: commentView(world, world.addComment(issue, user, documentIn(call))) };
}

/** Of the text, or of the document that holds it? A document that keeps to it is right either way. */
const longestText = 32_767;

function documentIn(call: Call): AdfNode {
  const { body } = jsonOf(call, badBody);
  if (!isDocument(body)) throw badComment("Comment body is not valid!");
  if (JSON.stringify(body).length > longestText) {
    throw badComment("The entered text is too long. It exceeds the allowed limit of 32,767 characters.");
  }
  return body as AdfNode;
}

function badComment(comment: string): Refusal {
  return refusal(400, comment, { comment });
}

function livingComments({ issue, call }: IssueVisit): Comment[] {
  const living = issue.comments.filter(({ isDeleted }) => !isDeleted);
  return call.query.get("orderBy") === "-created" ? living.toReversed() : living;
}

function commentOf(visit: IssueVisit): Comment {
  const comment = livingComments(visit).find(({ id }) => id === visit.call.params["comment"]);
  if (!comment) throw refusal(404, `Can not find a comment for the id: ${visit.call.params["comment"]}.`);
  return comment;
}

function changeComment(visit: IssueVisit): Reply {
  const { world, issue, call } = visit;
  const comment = ownComment(visit);
  const body = documentIn(call);
  comment.earlierBodies.push(comment.body);
  Object.assign(comment, { body, updatedMs: world.time.nowMs() });
  world.touch(issue);
  return { status: 200, body: commentView(world, comment) };
}

function removeComment(visit: IssueVisit): Reply {
  ownComment(visit).isDeleted = true;
  visit.world.touch(visit.issue);
  return { status: 204 };
}

function ownComment(visit: IssueVisit): Comment {
  const comment = commentOf(visit);
  if (comment.author === visit.user) return comment;
  throw refusal(400, `You do not have the permission to edit this comment (${comment.id}).`);
}

/** A page of the older kind, with a total. */
function listed<T>({ call }: Visit, name: string, items: readonly T[], view: (item: T) => unknown): Reply {
  const startAt = Number(call.query.get("startAt") ?? 0);
  const maxResults = Math.min(Number(call.query.get("maxResults") ?? 100), 100);
  const shown = items.slice(startAt, startAt + maxResults).map(view);
  const isLast = startAt + maxResults >= items.length;
  return { status: 200, body: { startAt, maxResults, total: items.length, isLast, [name]: shown } };
}
