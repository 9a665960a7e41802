import { type Fields, fieldsOf, instantOf } from "../../rest/fields.ts";
import type { Rest } from "../../rest/rest-client.ts";
import type { JiraIssue } from "../jira.ts";
import { adfToMarkdown } from "./adf-to-markdown.ts";
import { readAll } from "./pages.ts";

/** An issue, and since when it stands where it stands. */
export async function readIssue(
  rest: Rest,
  { key, siteUrl }: { key: string; siteUrl: string },
  signal: AbortSignal | undefined,
): Promise<JiraIssue> {
  const query = { fields: "summary,description,status,created,reporter" };
  const { body } = await rest({ method: "GET", path: pathOf(key), query, signal });
  const issue = fieldsOf(body, "Jira's issue");
  const fields = issue.object("fields");
  const changes = await readAll(rest, { path: `${pathOf(key)}/changelog`, name: "values", signal });
  const reporter = fields.anyObject("reporter");
  return {
    key: issue.text("key"),
    summary: fields.anyText("summary"),
    description: adfToMarkdown(fields.raw("description")),
    status: fields.object("status").text("name"),
    statusSince: statusSince(fields, changes),
    webUrl: `${siteUrl}/browse/${issue.text("key")}`,
    reporter: reporter?.anyText("displayName") || reporter?.anyText("accountId") || undefined,
  };
}

export function pathOf(key: string): string {
  return `issue/${encodeURIComponent(key)}`;
}

/** The last change that led to its status; its creation if it never had another. */
function statusSince(fields: Fields, changes: readonly Fields[]): string {
  const status = fields.object("status");
  const arrivals = changes
    .filter((change) => change.list("items").some((item) => leadsTo(item, status)))
    .map((change) => instantOf(change.text("created"), "Jira's changelog"));
  return arrivals.toSorted().at(-1) ?? instantOf(fields.text("created"), "Jira's issue");
}

function leadsTo(item: Fields, status: Fields): boolean {
  if (item.anyText("fieldId") !== "status" && item.anyText("field") !== "status") return false;
  const id = status.anyText("id");
  return id !== "" && item.anyText("to") !== ""
    ? item.anyText("to") === id
    : item.anyText("toString") === status.text("name");
}
