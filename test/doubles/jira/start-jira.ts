import { Router } from "../web/router.ts";
import { startWebDouble, type WebDouble } from "../web/web-double.ts";
import { type AdfNode, adfOf, textOf } from "./adf.ts";
import { type Issue, type JiraProject, type JiraUser, JiraWorld, plainWorkflow, type Workflow } from "./model.ts";
import { jiraRoutes } from "./rest.ts";

export interface IssueDraft {
  readonly summary: string;
  /** Text becomes paragraphs. */
  readonly description?: string | AdfNode;
  /** The workflow's first if left out. */
  readonly status?: string;
  readonly labels?: readonly string[];
  readonly assignee?: JiraUser;
}

/** A double of Jira Cloud: REST v3, with actions of users and injected faults. */
export class JiraDouble implements AsyncDisposable {
  /** Does everything that no user is named for. */
  readonly root: JiraUser;
  readonly #world: JiraWorld;
  readonly #web: WebDouble;

  constructor(world: JiraWorld, web: WebDouble) {
    this.#world = world;
    this.#web = web;
    this.root = this.addUser("root");
  }

  get url() {
    return this.#web.url;
  }

  get faults() {
    return this.#web.faults;
  }

  get requests() {
    return this.#web.requests;
  }

  get time() {
    return this.#world.time;
  }

  /** Searches see issues as they were so long ago. */
  set indexLagMs(ms: number) {
    this.#world.indexLagMs = ms;
  }

  addUser(name: string, { isReadOnly = false, token = `jira-${name}` } = {}): JiraUser {
    const accountId = `5b10${this.#world.nextId()}`;
    const user = { accountId, name, email: `${name}@example.com`, token, isReadOnly };
    this.#world.users.push(user);
    return user;
  }

  addProject(key: string, workflow: Workflow = plainWorkflow): JiraProject {
    const project = { id: this.#world.nextId(), key, workflow };
    this.#world.projects.push(project);
    return project;
  }

  addIssue(project: JiraProject, draft: IssueDraft, reporter: JiraUser = this.root): Issue {
    const world = this.#world;
    const number = world.issues.filter((other) => other.project === project).length + 1;
    const nowMs = world.time.nowMs();
    const { description } = draft;
    const issue: Issue = {
      id: world.nextId(),
      key: `${project.key}-${number}`,
      project,
      summary: draft.summary,
      description: typeof description === "string" ? adfOf(description) : (description ?? null),
      status: draft.status ?? project.workflow.statuses[0]?.name ?? "To Do",
      labels: [...(draft.labels ?? [])],
      reporter,
      assignee: draft.assignee,
      createdMs: nowMs,
      updatedMs: nowMs,
      comments: [],
      moves: [],
      past: [],
    };
    world.issues.push(issue);
    world.touch(issue);
    return issue;
  }

  /** Moves an issue to any status as a user, without a transition of the workflow. */
  moveAs(user: JiraUser, issue: Issue, status: string): void {
    this.#world.move(issue, user, status);
  }

  commentAs(user: JiraUser, issue: Issue, text: string): void {
    this.#world.addComment(issue, user, adfOf(text));
  }

  /** A record of all effects, with their users; deleted comments included. */
  whatHappened() {
    const { issues } = this.#world;
    return {
      issues: issues.map(({ key, status }) => ({ key, status })),
      transitions: issues.flatMap(({ key, moves }) =>
        moves.map(({ from, to, by }) => ({ issue: key, from, to, by: by.name })),
      ),
      comments: issues.flatMap(({ key, comments }) =>
        comments.map(({ id, author, body, earlierBodies, isDeleted }) => ({
          issue: key,
          id,
          author: author.name,
          text: textOf(body),
          earlierTexts: earlierBodies.map(textOf),
          isDeleted,
        })),
      ),
    };
  }

  close(): Promise<void> {
    return this.#web.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export async function startJira(): Promise<JiraDouble> {
  const world = new JiraWorld();
  const web = await startWebDouble({
    router: new Router(jiraRoutes(world)),
    time: world.time,
    notFound: () => ({ status: 404, body: { message: "null for uri", "status-code": 404 } }),
  });
  world.url = web.url;
  return new JiraDouble(world, web);
}
