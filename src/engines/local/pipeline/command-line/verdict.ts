import type { Argument } from "./argument.ts";

/** Why a command line is refused. */
export type CommandLineProblem =
  /** A substitution in the name of a program to run. */
  | { readonly kind: "program"; readonly argument: Argument }
  /** A substitution in a program's options or its code. */
  | { readonly kind: "in-code"; readonly argument: Argument }
  /** A substitution that the program would parse as an option if the value began with a dash. */
  | { readonly kind: "may-be-option"; readonly argument: Argument; readonly program: string; readonly fix: string }
  /** A substitution in an argument of an unknown program, or of one that can run arguments as code. */
  | { readonly kind: "not-allowed"; readonly argument: Argument; readonly program: string }
  /** An argument that does not fit the known grammar of its program. */
  | { readonly kind: "unparsed"; readonly argument: Argument; readonly program: string };

/** Where substitutions are allowed in the arguments after a program's options and code. */
export type OperandRule =
  | "anywhere"
  /** After a literal `--`. */
  | "after-dashes"
  /** After a literal `--`, or behind literal text such as `pod/$(params.x)`. */
  | "after-dashes-or-text"
  /** Behind `/` or `./`. */
  | "in-paths"
  | "nowhere";

/** Returns the problem of an argument that cannot be parsed: in code if it contains a substitution, otherwise unparsed. */
export function notParsed(argument: Argument, program: string): CommandLineProblem {
  return argument.isLiteral ? { kind: "unparsed", argument, program } : { kind: "in-code", argument };
}

/** Finds the operands with a substitution where `rule` does not allow one. `ended`: a `--` came before them. */
export function operandProblems(
  operands: readonly Argument[],
  { program, rule, ended }: { readonly program: string; readonly rule: OperandRule; readonly ended: boolean },
): CommandLineProblem[] {
  const problems: CommandLineProblem[] = [];
  let isAfterDashes = ended;
  for (const argument of operands) {
    if (argument.text === "--") isAfterDashes = true;
    else if (!argument.isLiteral && !isAllowed(argument, rule, isAfterDashes)) {
      if (rule === "nowhere") problems.push({ kind: "not-allowed", argument, program });
      else problems.push({ kind: "may-be-option", argument, program, fix: fixes[rule] });
    }
  }
  return problems;
}

function isAllowed({ start }: Argument, rule: OperandRule, isAfterDashes: boolean): boolean {
  switch (rule) {
    case "anywhere":
      return true;
    case "after-dashes":
      return isAfterDashes;
    case "after-dashes-or-text":
      return isAfterDashes || (start !== "" && !start.startsWith("-"));
    case "in-paths":
      return start.startsWith("/") || start.startsWith("./");
    case "nowhere":
      return false;
  }
}

const fixes: Readonly<Record<Exclude<OperandRule, "nowhere">, string>> = {
  anywhere: "",
  "after-dashes": 'Put "--" before it',
  "after-dashes-or-text": 'Put "--" before it',
  "in-paths": 'Begin the argument with "/" or "./"',
};
