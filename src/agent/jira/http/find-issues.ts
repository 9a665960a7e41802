import { z } from "../../../schema/index.ts";
import { RemoteError } from "../../remote-error.ts";
import { flag, instant, parseResponse, textOrEmpty } from "../../rest/response.ts";
import type { Rest } from "../../rest/rest-client.ts";
import type { FoundIssue } from "../jira.ts";

/** Finds issues by project and status. Pages are identified by tokens, and there is no total. */
export async function findIssues(
  rest: Rest,
  { project, status }: { project: string; status: string },
  signal: AbortSignal | undefined,
): Promise<readonly FoundIssue[]> {
  const jql = `project = ${quoted(project)} AND status = ${quoted(status)} ORDER BY updated ASC`;
  const found = new Map<string, FoundIssue>();
  const tokens = new Set<string>();
  for (let token = ""; ; ) {
    const query = { jql, fields: "updated", maxResults: 100, nextPageToken: token || undefined };
    const { body } = await rest({ method: "GET", path: "search/jql", query, signal });
    const page = parseResponse(searchSchema, body, "Jira's search");
    for (const { key, fields } of page.issues) found.set(key, { key, updatedAt: fields.updated });
    token = page.nextPageToken;
    if (token === "" || page.isLast) return [...found.values()];
    if (tokens.has(token)) throw new RemoteError("refused", "Jira's search repeats a page");
    tokens.add(token);
  }
}

const searchSchema = z.object({
  issues: z.array(z.object({ key: z.string(), fields: z.object({ updated: instant }) })),
  nextPageToken: textOrEmpty,
  isLast: flag,
});

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
