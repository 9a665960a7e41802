import type { Argument } from "./argument.ts";
import { findProblems } from "./find-program.ts";
import { findInterpreter, interpreterProblems } from "./interpreters.ts";
import { findPlainProgram, plainProblems } from "./plain-programs.ts";
import { isShell, shellProblems } from "./shells.ts";
import { type CommandLineProblem, notParsed, operandProblems } from "./verdict.ts";
import { findWrapper, unwrap } from "./wrappers.ts";

/**
 * Finds the reasons why a command line is not safe to substitute parameters in; empty if it is.
 *
 * Only some forms are allowed. The program, its options and its code are literals. Substitutions are allowed in the later arguments
 * of an interpreter, and in arguments of programs that are known not to run them. An unknown program may be an interpreter under
 * another name, so its arguments are literals. A known interpreter or wrapper that cannot be parsed is refused even if all of its
 * arguments are literals.
 */
export function commandLineProblems(argv: readonly Argument[]): readonly CommandLineProblem[] {
  const [program, ...args] = argv;
  if (!program) return [];
  if (!program.isLiteral) return [{ kind: "program", argument: program }];
  // The engine starts a step with env, which reads NAME=value as a variable and the next argument as the program.
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

/** Whether the program is a name, or a path in a `bin` folder. In other folders, `cat` may be a program of the workflow. */
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
