import type { PodLogs } from "../kube/index.ts";
import type { OperateContext } from "../operate/index.ts";
import type { Facts, Rule } from "../policy/index.ts";
import type { RemediationRequestSpec } from "../resources/index.ts";
import { shortNames } from "../resources/short-names/index.ts";
import type { Random } from "../time/index.ts";
import type { Terminal } from "./output/terminal.ts";

/** The context of a command that calls the API server. */
export interface ServerContext extends OperateContext {
  /** The output of containers; absent if the server has no kubelets. */
  readonly podLogs?: PodLogs;
  readonly terminal: Terminal;
  readonly random: Random;
  /** Aborts at the next Ctrl-C or SIGTERM. One that the command does not wait for ends the process. */
  interrupted(): AbortSignal;
  /** The data directory of `up`. */
  readonly directory: string;
  /** The namespace that commands list and search unless an option names another; undefined for all. */
  readonly namespace: string | undefined;
  /** Where processes write their heartbeats. */
  readonly heartbeatsIn: string;
  /** How long notices are collected for one digest, according to the local settings. */
  readonly digestWindowMs: number;
  /** The current rules. Throws CommandError with all their problems. */
  rules(): Promise<readonly Rule[]>;
  /** Reads the facts that rules need about the objects behind an incident. */
  readFacts(incident: RemediationRequestSpec, subject: string | undefined): Promise<Facts>;
}

/** A command failed. The message is for the operator. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** One entry per printed line. A newline within an entry is external text, and is printed escaped. */
  readonly lines: readonly string[];
  readonly exit: ExitName;

  constructor(message: string, details: readonly string[] = [], exit: ExitName = "failed") {
    const lines = [message, ...details.map((detail) => `  ${detail}`)];
    super(lines.join("\n"));
    this.lines = lines;
    this.exit = exit;
  }
}

/** Wrong arguments: an example is printed, too. */
export class MisuseError extends CommandError {
  constructor(message: string, details: readonly string[] = []) {
    super(message, details, "misuse");
  }
}

/** The text of an error, one entry per line. */
export function errorLines(error: unknown): readonly string[] {
  const lines = error instanceof CommandError ? error.lines : [error instanceof Error ? error.message : String(error)];
  return lines.map((line, i) => shortNames(i === 0 ? `error: ${line}` : line));
}

/** Every exit status of `interlock`, with its meaning. Commands use these, and docs/cli.md lists them. */
export const exitStatuses = {
  ok: { status: 0, meaning: "done; for `run`, the execution completed" },
  failed: {
    status: 1,
    meaning: "failed: the operation failed or was refused, an object does not exist, or a check found a problem",
  },
  misuse: { status: 2, meaning: "wrong arguments: unknown command, option, kind or value; nothing was done" },
  skipped: { status: 3, meaning: "`run`: the execution was skipped; `interlock why` explains the reason" },
  unavailable: { status: 4, meaning: "the API server or the gateway did not respond; try again" },
  forbidden: { status: 5, meaning: "the API server refused the request: the credentials lack a right" },
  interrupted: {
    status: 130,
    meaning: "interrupted by Ctrl-C, or the reader of the output has gone; an execution that was followed continues",
  },
} as const;

export type ExitName = keyof typeof exitStatuses;

/** The exit status with this name. */
export function exitStatus(name: ExitName): number {
  return exitStatuses[name].status;
}
