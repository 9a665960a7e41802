import { Refusal } from "../web/call.ts";
import type { Issue, JiraUser, JiraWorld } from "./model.ts";

type Found = { readonly issue: Issue; readonly status: string; readonly updatedMs: number };
type Test = (found: Found) => boolean;

/**
 * A small part of JQL: conditions on key, project, status, statusCategory, labels, assignee, created and updated, joined
 * by AND, and an order. Other queries are refused like invalid ones.
 */
export function search(world: JiraWorld, jql: string, user: JiraUser): Issue[] {
  const [, where = "", order = ""] = /^(.*?)(?:\border\s+by\b(.*))?$/is.exec(jql.trim()) ?? [];
  if (where.trim() === "")
    throw badJql("Unbounded JQL queries are not allowed here. Please add a search restriction to your query.");
  const tests = conditionsOf(where).map((condition) => testOf(condition, world, user));
  const found: Found[] = [];
  for (const issue of world.issues) {
    const seen = world.indexed(issue);
    const candidate = seen && { issue, ...seen };
    if (candidate && tests.every((test) => test(candidate))) found.push(candidate);
  }
  return found.sort(comparison(order)).map(({ issue }) => issue);
}

export function badJql(why: string): Refusal {
  return new Refusal(400, { errorMessages: [why], errors: {} });
}

interface Condition {
  readonly field: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** Parsed from the left, so that an AND within quotes does not separate two conditions. */
const conditionPattern =
  /^\s*(\w+)\s*(=|!=|>=|<=|>|<|\bnot\s+in\b|\bin\b)\s*(\((?:[^()"']|"[^"]*"|'[^']*')*\)|"[^"]*"|'[^']*'|[\w.:/()-]+)\s*/i;

function conditionsOf(where: string): Condition[] {
  const conditions: Condition[] = [];
  for (let rest = where; ; ) {
    const [matched, field = "", operator = "", value = ""] = conditionPattern.exec(rest) ?? [];
    if (matched === undefined) throw badJql(`Error in the JQL Query: '${rest.trim()}' is not understood.`);
    const isList = operator.toLowerCase().endsWith("in");
    const values = isList ? listOf(value) : [unquoted(value)];
    conditions.push({ field: field.toLowerCase(), operator: operator.toLowerCase().replace(/\s+/, " "), values });
    rest = rest.slice(matched.length);
    if (rest === "") return conditions;
    if (!/^and\b/i.test(rest)) throw badJql(`Error in the JQL Query: expecting AND but got '${rest.trim()}'.`);
    rest = rest.slice(3);
  }
}

function listOf(value: string): string[] {
  return [...value.slice(1, -1).matchAll(/"[^"]*"|'[^']*'|[^\s,]+/g)].map(([part]) => unquoted(part));
}

function unquoted(value: string): string {
  return /^(["']).*\1$/s.test(value) ? value.slice(1, -1) : value;
}

function testOf({ field, operator, values }: Condition, world: JiraWorld, user: JiraUser): Test {
  if (field === "created" || field === "updated") return timeTest({ field, operator, values }, world);
  const isNegated = operator === "!=" || operator === "not in";
  if (!["=", "!=", "in", "not in"].includes(operator)) throw badOperator(field, operator);
  const wanted = values.map((value) => (value === "currentUser()" ? user.accountId : value).toLowerCase());
  checkKnown(field, values, world);
  const valuesOf = textFields[field];
  if (!valuesOf) throw badJql(`Field '${field}' does not exist or you do not have permission to view it.`);
  return (found) => valuesOf(found).some((value) => wanted.includes(value.toLowerCase())) !== isNegated;
}

const textFields: Readonly<Record<string, (found: Found) => readonly string[]>> = {
  key: ({ issue }) => [issue.key],
  issuekey: ({ issue }) => [issue.key],
  project: ({ issue }) => [issue.project.key],
  status: ({ status }) => [status],
  labels: ({ issue }) => issue.labels,
  assignee: ({ issue }) => [issue.assignee?.accountId ?? "EMPTY"],
  statuscategory: ({ issue, status }) => {
    const names = { new: "To Do", indeterminate: "In Progress", done: "Done" };
    const { category = "new" } = issue.project.workflow.statuses.find(({ name }) => name === status) ?? {};
    return [names[category]];
  },
};

/** Like Jira, refuses to search for projects and statuses that do not exist. */
function checkKnown(field: string, values: readonly string[], { projects }: JiraWorld): void {
  const known: Readonly<Record<string, readonly string[]>> = {
    project: projects.map(({ key }) => key),
    status: projects.flatMap(({ workflow }) => workflow.statuses.map(({ name }) => name)),
  };
  for (const value of values) {
    if (known[field]?.every((name) => name.toLowerCase() !== value.toLowerCase())) {
      throw badJql(`The value '${value}' does not exist for the field '${field}'.`);
    }
  }
}

function timeTest({ field, operator, values: [value = ""] }: Condition, world: JiraWorld): Test {
  const limitMs = timeOf(value, world);
  const read = (found: Found) => (field === "created" ? found.issue.createdMs : found.updatedMs);
  const tests: Readonly<Record<string, Test>> = {
    ">=": (found) => read(found) >= limitMs,
    ">": (found) => read(found) > limitMs,
    "<=": (found) => read(found) <= limitMs,
    "<": (found) => read(found) < limitMs,
  };
  const test = tests[operator];
  if (!test) throw badOperator(field, operator);
  return test;
}

/** To the minute and in the user's time zone, which here is the server's; or so long ago, `-30m`. */
function timeOf(value: string, { time }: JiraWorld): number {
  const [, amount, unit] = /^-(\d+)([mhdw])$/.exec(value) ?? [];
  if (amount !== undefined) {
    const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[unit as "m" | "h" | "d" | "w"];
    return time.nowMs() - Number(amount) * unitMs;
  }
  const [, day, clock = "00:00"] = /^(\d{4}[-/]\d\d[-/]\d\d)(?: (\d\d:\d\d))?$/.exec(value) ?? [];
  if (day === undefined) throw badJql(`Date value '${value}' is invalid. Valid formats include: 'yyyy/MM/dd HH:mm'.`);
  return Date.parse(`${day.replaceAll("/", "-")}T${clock}:00Z`) - time.offsetMinutes * 60_000;
}

function badOperator(field: string, operator: string): Refusal {
  return badJql(`The operator '${operator}' is not supported by the '${field}' field.`);
}

function comparison(order: string): (one: Found, other: Found) => number {
  const keys = order
    .split(",")
    .map((key) => key.trim().split(/\s+/))
    .filter(([field]) => field !== "");
  const ranks: Readonly<Record<string, (found: Found) => number>> = {
    created: ({ issue }) => issue.createdMs,
    updated: ({ updatedMs }) => updatedMs,
    key: ({ issue }) => Number(issue.id),
  };
  const rules = keys.map(([field = "", direction = "asc"]) => {
    const rank = ranks[field.toLowerCase()];
    if (!rank) throw badJql(`Not able to sort using field '${field}'.`);
    return { rank, sign: direction.toLowerCase() === "desc" ? -1 : 1 };
  });
  return (one, other) => {
    for (const { rank, sign } of rules) {
      const difference = rank(one) - rank(other);
      if (difference !== 0) return sign * difference;
    }
    return Number(other.issue.id) - Number(one.issue.id);
  };
}
