/** An answer that says no: RFC 9457, with every problem in plain words. Never says what was sent. */
export interface ProblemDocument {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly problems?: readonly string[];
}

const titles: Readonly<Record<number, string>> = {
  400: "This is not JSON",
  401: "Who are you?",
  403: "You may not do that",
  404: "There is nothing here",
  405: "This cannot be done here",
  413: "This is too large",
  415: "This is of the wrong type",
  422: "This cannot be understood",
  429: "This is too much at a time",
  503: "Please try again",
};

export function problemDocument(status: number, detail: string, problems?: readonly string[]): ProblemDocument {
  return {
    type: "about:blank",
    title: titles[status] ?? "No",
    status,
    detail,
    ...(problems && problems.length > 0 ? { problems: problems.slice(0, maxProblems) } : {}),
  };
}

/** Who sends so much that is wrong reads no more than this. */
const maxProblems = 100;
