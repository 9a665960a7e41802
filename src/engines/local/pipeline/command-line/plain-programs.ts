import type { Argument } from "./argument.ts";
import { type CommandLineProblem, type OperandRule, operandProblems } from "./verdict.ts";

/** A program that runs none of its arguments as code. */
interface PlainProgram {
  readonly rule: OperandRule;
  /** Long options whose value can be a substitution: `--name=$(params.x)`. */
  readonly values?: readonly string[];
  /** The first argument has to be one of these literals. */
  readonly subcommands?: readonly string[];
}

const anywhere: PlainProgram = { rule: "anywhere" };
const files: PlainProgram = { rule: "after-dashes-or-text" };

const plainPrograms: Readonly<Record<string, PlainProgram>> = {
  ...programs(["echo", "printf", "true", "false", "test", "["], anywhere),
  ...programs(["cat", "head", "tail", "wc", "cut", "cmp", "md5sum", "sha256sum", "grep", "egrep", "fgrep"], files),
  ...programs(["ls", "stat", "du", "df", "basename", "dirname", "realpath", "readlink"], files),
  ...programs(["rm", "rmdir", "mkdir", "touch", "cp", "mv", "ln", "chmod", "chown", "chgrp", "truncate"], files),
  ...programs(["sleep", "logger", "id", "getent", "umount"], files),
  journalctl: { ...files, values: ["--unit", "--since", "--until", "--lines", "--grep", "--priority"] },
  systemctl: {
    ...files,
    subcommands: ["start", "stop", "restart", "try-restart", "reload", "status", "is-active", "is-failed", "kill"],
  },
  kubectl: {
    ...files,
    values: [
      ...["--namespace", "--selector", "--field-selector", "--container", "--replicas", "--current-replicas"],
      ...["--timeout", "--grace-period", "--since", "--tail"],
    ],
    subcommands: [
      ...["get", "describe", "logs", "top", "wait", "rollout", "scale", "delete", "label", "annotate", "taint"],
      ...["cordon", "uncordon", "drain", "exec"],
    ],
  },
};

export function findPlainProgram(name: string): PlainProgram | undefined {
  return Object.hasOwn(plainPrograms, name) ? plainPrograms[name] : undefined;
}

/** Checks the arguments of a program that runs none of them: a value must not be parsed as an option. */
export function plainProblems(
  program: string,
  { rule, values = [], subcommands }: PlainProgram,
  args: readonly Argument[],
): CommandLineProblem[] {
  if (subcommands && !subcommands.includes(args[0]?.text ?? "")) {
    return operandProblems(args, { program, rule: "nowhere", ended: false });
  }
  const found = operandProblems(args, { program, rule, ended: false });
  return found.filter(({ argument }) => !values.includes(/^(--[\w-]+)=/.exec(argument.start)?.[1] ?? ""));
}

function programs(names: readonly string[], program: PlainProgram): Record<string, PlainProgram> {
  return Object.fromEntries(names.map((name) => [name, program]));
}
