import type { Argument } from "./argument.ts";
import { findProblems } from "./find-program.ts";
import { findInterpreter, interpreterProblems } from "./interpreters.ts";
import { findPlainProgram, plainProblems } from "./plain-programs.ts";
import { isShell, shellProblems } from "./shells.ts";
import { type CommandLineProblem, notParsed, operandProblems } from "./verdict.ts";
import { findWrapper, unwrap } from "./wrappers.ts";

/**
 * Why no value of a parameter may be put into this command line as it is written; empty if it may.
 *
 * It is a list of allowed forms. The program, its options and its code are literals. Substitutions may stand in the
 * later arguments of an interpreter, and in arguments of programs that are known to run none. A program that is not
 * known may be an interpreter under another name, so no substitution may stand in its arguments. A known interpreter
 * or wrapper that cannot be parsed is refused even without a substitution.
 */
export function commandLineProblems(argv: readonly Argument[]): readonly CommandLineProblem[] {
  const [program, ...args] = argv;
  if (!program) return [];
  if (!program.isLiteral) return [{ kind: "program", argument: program }];
  // The engine starts a step with env, which takes NAME=value for a variable and the next argument for the program.
  if (program.text.includes("=")) return [notParsed(program, program.text)];

  const name = program.text.split("/").at(-1) ?? "";
  if (!isInstalled(program.text)) {
    const found = operandProblems(args, { program: program.text, rule: "nowhere", ended: false });
    if (found.length > 0) return found;
  }
  const wrapper = findWrapper(name);
  if (wrapper) {
    const unwrapped = unwrap(name, wrapper, args);
    return unwrapped.kind === "refused" ? unwrapped.problems : commandLineProblems(unwrapped.argv);
  }
  if (isShell(name)) return shellProblems(name, args);
  const interpreter = findInterpreter(name);
  if (interpreter) return interpreterProblems(name, interpreter, args);
  if (name === "find") return findProblems(args);
  if (name === "kubectl" && args[0]?.text === "exec") return kubectlExecProblems(args);
  const plain = findPlainProgram(name);
  if (plain) return plainProblems(name, plain, args);
  return operandProblems(args, { program: name, rule: "nowhere", ended: false });
}

/** A name, or a path in a folder of programs. In any other folder, `cat` may be a program of the workflow's own. */
function isInstalled(program: string): boolean {
  return !program.includes("/") || /^\/(.+\/)?s?bin\/[^/]+$/.test(program);
}

/**
 * `kubectl exec POD -- COMMAND…`: the arguments after `--` are a command line of their own. Without `--`, kubectl takes
 * the arguments after the pod for the command.
 */
function kubectlExecProblems(args: readonly Argument[]): readonly CommandLineProblem[] {
  const plain = findPlainProgram("kubectl");
  const end = args.findIndex(({ text }) => text === "--");
  if (!plain || end < 0) return operandProblems(args, { program: "kubectl", rule: "nowhere", ended: false });
  return [...plainProblems("kubectl", plain, args.slice(0, end)), ...commandLineProblems(args.slice(end + 1))];
}
