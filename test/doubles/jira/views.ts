import type { Comment, Issue, JiraUser, JiraWorld, Move, Transition } from "./model.ts";

/** Things as Jira's REST API shows them. */
export function userView({ accountId, email, name }: JiraUser) {
  return {
    accountId,
    accountType: "atlassian",
    emailAddress: email,
    displayName: name,
    active: true,
    timeZone: "Etc/UTC",
  };
}

/** Only the requested fields; `*all` and `*navigable` are all fields. */
export function issueView(world: JiraWorld, issue: Issue, fields: readonly string[]) {
  const all = allFields(world, issue);
  const isAll = fields.some((field) => field === "*all" || field === "*navigable");
  const shown = isAll ? all : Object.fromEntries(Object.entries(all).filter(([name]) => fields.includes(name)));
  return { id: issue.id, self: `${world.url}/rest/api/3/issue/${issue.id}`, key: issue.key, fields: shown };
}

function allFields(world: JiraWorld, issue: Issue) {
  const { project } = issue;
  return {
    summary: issue.summary,
    description: issue.description,
    status: statusView(issue, issue.status),
    issuetype: { id: "10001", name: "Task", subtask: false },
    project: { id: project.id, key: project.key, name: project.key },
    labels: issue.labels,
    priority: { id: "3", name: "Medium" },
    reporter: userView(issue.reporter),
    creator: userView(issue.reporter),
    assignee: issue.assignee ? userView(issue.assignee) : null,
    created: world.date(issue.createdMs),
    updated: world.date(issue.updatedMs),
  };
}

function statusView({ project }: Issue, wanted: string) {
  const status = project.workflow.statuses.find(({ name }) => name === wanted);
  const names = { new: "To Do", indeterminate: "In Progress", done: "Done" };
  const category = status?.category ?? "new";
  return { id: status?.id, name: wanted, statusCategory: { key: category, name: names[category] } };
}

export function transitionView(issue: Issue, { id, name, to, requires = [] }: Transition) {
  const fields = Object.fromEntries(requires.map((field) => [field, { required: true, name: field }]));
  return { id, name, to: statusView(issue, to), hasScreen: requires.length > 0, isAvailable: true, fields };
}

export function moveView(world: JiraWorld, { project }: Issue, move: Move) {
  const idOf = (status: string) => project.workflow.statuses.find(({ name }) => name === status)?.id;
  return {
    id: move.id,
    author: userView(move.by),
    created: world.date(move.atMs),
    items: [
      {
        field: "status",
        fieldtype: "jira",
        fieldId: "status",
        from: idOf(move.from),
        fromString: move.from,
        to: idOf(move.to),
        toString: move.to,
      },
    ],
  };
}

export function commentView(world: JiraWorld, comment: Comment) {
  return {
    id: comment.id,
    author: userView(comment.author),
    updateAuthor: userView(comment.author),
    body: comment.body,
    created: world.date(comment.createdMs),
    updated: world.date(comment.updatedMs),
    jsdPublic: true,
  };
}
