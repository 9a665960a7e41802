import { instant, textOrEmpty, z } from "../../../schema/index.ts";
import { parseResponse, type Rest } from "../../rest/rest-client.ts";
import type { JiraIssue } from "../jira.ts";
import { adfToMarkdown } from "./adf-to-markdown.ts";
import { readAll } from "./pages.ts";

/** Reads an issue, and the time at which it entered its status. */
export async function readIssue(
  rest: Rest,
  { key, siteUrl }: { key: string; siteUrl: string },
  signal: AbortSignal | undefined,
): Promise<JiraIssue> {
  const query = { fields: "summary,description,status,created,reporter" };
  const { body } = await rest({ method: "GET", path: issuePath(key), query, signal });
  const issue = parseResponse(issueSchema, body, "Jira's issue");
  const { summary, description, status, created, reporter } = issue.fields;
  const list = { path: `${issuePath(key)}/changelog`, name: "values", item: changeSchema, signal };
  const changes = await readAll(rest, list);
  return {
    key: issue.key,
    summary,
    description: adfToMarkdown(description),
    status: status.name,
    statusSince: lastArrival(status, changes) ?? created,
    webUrl: `${siteUrl}/browse/${issue.key}`,
    reporter: reporter?.displayName || reporter?.accountId || undefined,
  };
}

const issueSchema = z.object({
  key: z.string(),
  fields: z.object({
    summary: textOrEmpty,
    description: z.unknown().optional(),
    status: z.object({ id: textOrEmpty, name: z.string() }),
    created: instant,
    reporter: z.object({ displayName: textOrEmpty, accountId: textOrEmpty }).nullish(),
  }),
});

const changeItemSchema = z.object({
  field: textOrEmpty,
  fieldId: textOrEmpty,
  to: textOrEmpty,
  toString: textOrEmpty,
});

const changeSchema = z.object({ created: instant, items: z.array(changeItemSchema) });

export function issuePath(key: string): string {
  return `issue/${encodeURIComponent(key)}`;
}

type IssueStatus = z.output<typeof issueSchema>["fields"]["status"];

/** When the issue last came into its status; undefined if it never had another. */
function lastArrival(status: IssueStatus, changes: readonly z.output<typeof changeSchema>[]): string | undefined {
  const arrivals = changes.filter(({ items }) => items.some((item) => leadsTo(item, status)));
  return arrivals
    .map(({ created }) => created)
    .toSorted()
    .at(-1);
}

function leadsTo(item: z.output<typeof changeItemSchema>, { id, name }: IssueStatus): boolean {
  if (item.fieldId !== "status" && item.field !== "status") return false;
  return id !== "" && item.to !== "" ? item.to === id : item.toString === name;
}
