import { type Jira, type JiraIssue, RemoteError } from "../../../src/agent/index.ts";
import type { Clock } from "../../../src/time/index.ts";

/** The part of Jira that a poller reads: issues with a status, and a search whose index may lag. */
export class FakeJira {
  readonly requests: string[] = [];
  /** Rejects the calls for which it returns something. */
  fault: (call: string) => RemoteError | undefined = () => undefined;
  /** How outdated the search may be. */
  lagMs = 0;
  readonly #clock: Clock;
  readonly #issues = new Map<string, (JiraIssue & { readonly atMs: number })[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The issue comes to stand in the status now. */
  move(key: string, status: string, change: Partial<JiraIssue> = {}): void {
    const statusSince = new Date(this.#clock.wallMs()).toISOString();
    const issue = { key, summary: `s ${key}`, description: "d", status, statusSince, webUrl: "", reporter: "ada" };
    const before = this.#issues.get(key) ?? [];
    this.#issues.set(key, [...before, { ...issue, ...change, atMs: this.#clock.wallMs() }]);
  }

  port(): Jira {
    const ask = async <T>(call: string, answer: () => T): Promise<T> => {
      this.requests.push(call);
      const error = this.fault(call);
      if (error) throw error;
      return answer();
    };
    const calls: Partial<Jira> = {
      site: "example.atlassian.net",
      issuesIn: (project, status) =>
        ask(`issues of ${project}`, () =>
          [...this.#issues.values()].flatMap((states) => {
            const indexed = states.findLast(({ atMs }) => atMs <= this.#clock.wallMs() - this.lagMs);
            if (indexed?.status !== status || !indexed.key.startsWith(`${project}-`)) return [];
            return [{ key: indexed.key, updatedAt: new Date(indexed.atMs).toISOString() }];
          }),
        ),
      issue: (key) =>
        ask(`issue ${key}`, () => {
          const issue = this.#issues.get(key)?.at(-1);
          if (!issue) throw new RemoteError("missing", "there is no such issue");
          return issue;
        }),
    };
    return calls as Jira;
  }
}
