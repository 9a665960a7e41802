import { parse, z } from "../../schema/index.ts";
import { type Clock, timeLimit } from "../../time/index.ts";
import { type IssueProject, type IssueTracker, IssueTrackerError } from "./issue-tracker.ts";

const timeLimitMs = 30_000;

const issueSchema = z.object({ web_url: z.url({ protocol: /^https?$/ }) });

/** Issues of GitLab, by its REST API v4. */
export function gitlabIssues(clock: Clock): IssueTracker {
  async function call<S extends z.ZodType>(project: IssueProject, schema: S, { query = "", body, signal }: Call) {
    using limit = timeLimit(clock, timeLimitMs, signal);
    const path = `api/v4/projects/${encodeURIComponent(project.project)}/issues${query}`;
    try {
      const response = await fetch(`${project.url.replace(/\/+$/, "")}/${path}`, {
        method: body ? "POST" : "GET",
        // A redirect is an error: following it could send the token to another server.
        redirect: "manual",
        headers: { "PRIVATE-TOKEN": project.token, ...(body && { "Content-Type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: limit.signal,
      });
      if (!response.ok) throw refusal(response.status, project, body ? "create" : "list");
      const parsed = parse(schema, await response.json());
      if (parsed.kind === "valid") return parsed.value;
      const problems = parsed.problems.map(({ sentence }) => sentence);
      throw new IssueTrackerError(`GitLab's response is invalid: ${problems.join(", ")}; check its URL`, false);
    } catch (error) {
      if (error instanceof IssueTrackerError) throw error;
      if (error instanceof SyntaxError)
        throw new IssueTrackerError("GitLab's response is not JSON; check its URL", false);
      throw new IssueTrackerError(`GitLab does not respond: ${error instanceof Error ? error.message : error}`, true);
    }
  }
  return {
    async find(project, marker, signal) {
      const query = `?state=opened&labels=${encodeURIComponent(marker)}`;
      const [issue] = await call(project, z.array(issueSchema), { query, signal });
      return issue?.web_url;
    },
    async open(project, { title, description, marker }, signal) {
      const body = { title, description, labels: `interlock,${marker}` };
      return (await call(project, issueSchema, { body, signal })).web_url;
    },
  };
}

interface Call {
  readonly query?: string;
  readonly body?: object;
  readonly signal: AbortSignal | undefined;
}

function refusal(status: number, { project }: IssueProject, verb: "create" | "list"): IssueTrackerError {
  if (status === 401 || status === 403) {
    const right = `cannot ${verb} issues in the GitLab project "${project}"`;
    return new IssueTrackerError(
      `missing rights: ${right}: the token needs the scope api and the role Reporter`,
      false,
    );
  }
  const isTransient = status === 429 || status >= 500;
  return new IssueTrackerError(
    `GitLab responded with ${status} to ${verb} issues in the project "${project}"`,
    isTransient,
  );
}
