import { STATUS_CODES } from "node:http";

/** An error response (RFC 9457) with every problem. It never repeats what the sender sent. */
export interface ProblemDocument {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly problems?: readonly string[];
}

export function problemDocument(status: number, detail: string, problems?: readonly string[]): ProblemDocument {
  return {
    type: "about:blank",
    title: STATUS_CODES[status] ?? "Error",
    status,
    detail,
    ...(problems && problems.length > 0 ? { problems: problems.slice(0, maxProblems) } : {}),
  };
}

/** Problems in one response. */
const maxProblems = 100;
