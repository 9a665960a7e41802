/** Every exit status of `interlock`, with its meaning. Commands use these, and docs/cli.md lists them. */
export const exitStatuses = {
  ok: { status: 0, meaning: "done; for `run`, the execution completed" },
  failed: {
    status: 1,
    meaning: "failed: the operation failed or was refused, an object does not exist, or a check found a problem",
  },
  misuse: { status: 2, meaning: "wrong arguments: unknown command, option, kind or value; nothing was done" },
  skipped: { status: 3, meaning: "`run`: the execution was skipped; `interlock why` explains the reason" },
  unavailable: { status: 4, meaning: "the API server or the gateway did not answer; try again" },
  forbidden: { status: 5, meaning: "the API server refused the request: the credentials lack a right" },
  interrupted: { status: 130, meaning: "interrupted by Ctrl-C; an execution that was followed continues" },
} as const;

export type ExitName = keyof typeof exitStatuses;

/** The number for a name of the table. */
export function exitStatus(name: ExitName): number {
  return exitStatuses[name].status;
}
