import { flag, instant, textOrEmpty, z } from "../../../schema/index.ts";
import { RemoteError, unlessMissing } from "../../remote-error.ts";
import { parseResponse, type Rest, type RestRequest, restClient, type ServerOptions } from "../../rest/rest-client.ts";
import type { FoundIssue, Jira, JiraComment } from "../jira.ts";
import { adfToMarkdown } from "./adf-to-markdown.ts";
import { markdownToAdf } from "./markdown-to-adf.ts";
import { moveIssue } from "./move-issue.ts";
import { readAll } from "./pages.ts";
import { issuePath, readIssue } from "./read-issue.ts";

export interface JiraHttpOptions extends ServerOptions {
  /** The account that the token belongs to. */
  readonly email: string;
}

/** Jira Cloud over its REST API v3. */
export function jiraHttp(options: JiraHttpOptions): Jira {
  const siteUrl = options.url.replace(/\/+$/, "");
  const rest = restClient({ ...options, name: "Jira", basePath: "rest/api/3", credentials, fixes });

  function credentials(token: string) {
    const basic = Buffer.from(`${options.email}:${token}`).toString("base64");
    return { headers: { authorization: `Basic ${basic}` }, secrets: [token, basic] };
  }
  async function read<S extends z.ZodType>(what: string, schema: S, request: RestRequest): Promise<z.output<S>> {
    return parseResponse(schema, (await rest(request)).body, `Jira's ${what}`);
  }

  return {
    site: new URL(options.url).host,

    async self(signal) {
      return (await read("account", accountSchema, { method: "GET", path: "myself", signal })).accountId;
    },
    issuesIn: (project, status, signal) => findIssues(rest, { project, status }, signal),
    issue: (key, signal) => readIssue(rest, { key, siteUrl }, signal),
    moveTo: (key, status, signal) => moveIssue(rest, { key, status }, signal),

    async comments(key, signal) {
      const list = { path: `${issuePath(key)}/comment`, query: { orderBy: "created" }, name: "comments", signal };
      return await readAll(rest, { ...list, item: commentSchema });
    },
    async addComment(key, markdown, signal) {
      const body = { body: markdownToAdf(markdown) };
      return await read("comment", commentSchema, { method: "POST", path: `${issuePath(key)}/comment`, body, signal });
    },
    async changeComment(key, commentId, markdown, signal) {
      const path = `${issuePath(key)}/comment/${encodeURIComponent(commentId)}`;
      await rest({ method: "PUT", path, body: { body: markdownToAdf(markdown) }, signal });
    },
    async deleteComment(key, commentId, signal) {
      const path = `${issuePath(key)}/comment/${encodeURIComponent(commentId)}`;
      await unlessMissing(rest({ method: "DELETE", path, signal }));
    },
  };
}

const fixes = {
  401: "replace jira.apiToken (JIRA_API_TOKEN), or correct jira.email (JIRA_EMAIL)",
  403: "the agent's account needs Browse, Add comments, Edit own comments and Transition issues in the project",
};

const accountSchema = z.object({ accountId: z.string() });

const commentSchema = z
  .object({ id: z.string(), author: z.object({ accountId: textOrEmpty }).nullish(), body: z.unknown().optional() })
  .transform(({ id, author, body }): JiraComment => {
    return { id, authorId: author?.accountId ?? "", text: adfToMarkdown(body) };
  });

/** Finds issues by project and status. Pages are identified by tokens, and there is no total. */
async function findIssues(
  rest: Rest,
  { project, status }: { project: string; status: string },
  signal: AbortSignal | undefined,
): Promise<readonly FoundIssue[]> {
  const jql = `project = ${quote(project)} AND status = ${quote(status)} ORDER BY updated ASC`;
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

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
