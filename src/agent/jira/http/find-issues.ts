import { RemoteError } from "../../remote-error.ts";
import { fieldsOf, instantOf } from "../../rest/fields.ts";
import type { Rest } from "../../rest/rest-client.ts";
import type { FoundIssue } from "../jira.ts";

/** Issues by project and status. Pages are named by tokens, and none says how many there are. */
export async function findIssues(
  rest: Rest,
  { project, status }: { project: string; status: string },
  signal: AbortSignal | undefined,
): Promise<readonly FoundIssue[]> {
  const jql = `project = ${quoted(project)} AND status = ${quoted(status)} ORDER BY updated ASC`;
  const found = new Map<string, FoundIssue>();
  const snapshot = new Set<string>();
  for (let token = ""; ; ) {
    const query = { jql, fields: "updated", maxResults: 100, nextPageToken: token || undefined };
    const { body } = await rest({ method: "GET", path: "search/jql", query, signal });
    const page = fieldsOf(body, "Jira's search");
    for (const issue of page.list("issues")) {
      const key = issue.text("key");
      found.set(key, { key, updatedAt: instantOf(issue.object("fields").text("updated"), "Jira's issue") });
    }
    token = page.anyText("nextPageToken");
    if (token === "" || page.flag("isLast")) return [...found.values()];
    if (snapshot.has(token)) throw new RemoteError("refused", "Jira's search leads in a circle");
    snapshot.add(token);
  }
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
