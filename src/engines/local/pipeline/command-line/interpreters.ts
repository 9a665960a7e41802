import type { Argument } from "./argument.ts";
import { type OptionGrammar, parseOptions } from "./options.ts";
import { type CommandLineProblem, notParsed, type OperandRule, operandProblems } from "./verdict.ts";

/** The grammar of a program that runs code from its arguments. */
interface Interpreter {
  readonly options: OptionGrammar;
  /** Options whose value is the code, or names it; without one of them the first operand is the code, or names it. */
  readonly code: readonly string[];
  /** Where substitutions are allowed after an option with the code. */
  readonly afterCode: OperandRule;
  /** Where substitutions are allowed after an operand with the code. */
  readonly afterScript: OperandRule;
  /** Options with which all arguments have to be literals. */
  readonly literalWith?: readonly string[];
  /** First operands that are not scripts. */
  readonly subcommands?: readonly string[];
  /** Whether the code may run its arguments. Called with undefined for unknown code. */
  readonly isUnsafe?: (code: string | undefined) => boolean;
}

/**
 * The interpreters with a known grammar, by the name of the program. Each grammar follows the manual, and is narrow on purpose:
 * options that are not listed are refused.
 */
const interpreters: readonly (readonly [name: RegExp, interpreter: Interpreter])[] = [
  [
    /^(python|pypy)\d*(\.\d+)*$/,
    {
      options: {
        flags: "bBdEiIOPqRsSuvx",
        values: "WXcm",
        longValues: ["--check-hash-based-pycs"],
        last: ["c", "m"],
      },
      code: ["c", "m"],
      // Everything after the code belongs to it. Some modules (timeit, pdb) run their own arguments as code.
      afterCode: "anywhere",
      afterScript: "anywhere",
      literalWith: ["m"],
    },
  ],
  [
    /^(node|nodejs)$/,
    {
      options: {
        longFlags: ["--enable-source-maps", "--expose-gc", "--no-warnings", "--trace-uncaught", "--trace-warnings"],
        longValues: [
          ...["-e", "--eval", "-p", "-pe", "--print"],
          ...["-r", "--require", "--import", "-C", "--conditions", "--env-file", "--input-type"],
          ...["--max-old-space-size", "--stack-size"],
        ],
      },
      code: ["-e", "--eval", "-p", "-pe", "--print"],
      // Options of Node may follow the code.
      afterCode: "after-dashes",
      afterScript: "anywhere",
      subcommands: ["inspect", "debug"],
    },
  ],
  [
    /^perl\d*(\.\d+)*$/,
    {
      options: { flags: "acflnptTUwWX", values: "eEI", attached: "0CFimM" },
      code: ["e", "E"],
      afterCode: "after-dashes",
      afterScript: "anywhere",
      // With these, Perl opens every argument as `<>` does.
      literalWith: ["n", "p", "a", "F", "i"],
      // Reading from the handle ARGV, as `<>` does, runs an argument such as "command |". @ARGV and $ARGV[0] are data.
      isUnsafe: (code) => code === undefined || /<\s*>|(?<![@$#])\bARGV\b|\breadline\b|\beof\b/.test(code),
    },
  ],
  [
    /^ruby\d*(\.\d+)*$/,
    {
      options: { flags: "acdlnpvwUy", values: "erIE", attached: "FiWK" },
      code: ["e"],
      afterCode: "after-dashes",
      afterScript: "anywhere",
      literalWith: ["a", "n", "p", "F", "i"],
    },
  ],
  [
    /^php\d*(\.\d+)*$/,
    {
      options: { flags: "nCq", values: "rfdcz" },
      code: ["r", "f"],
      afterCode: "after-dashes",
      afterScript: "anywhere",
    },
  ],
  [
    /^lua(jit)?\d*(\.\d+)*$/,
    // A script follows the code of -e, too.
    { options: { flags: "iEW", values: "el" }, code: [], afterCode: "nowhere", afterScript: "anywhere" },
  ],
  [/^tclsh\d*(\.\d+)*$/, { options: {}, code: [], afterCode: "nowhere", afterScript: "anywhere" }],
  [
    /^[gmn]?awk$/,
    {
      options: { values: "Fvf" },
      code: ["f"],
      // An operand such as name=value sets a variable of the program.
      afterCode: "in-paths",
      afterScript: "in-paths",
    },
  ],
  [
    /^g?sed$/,
    {
      options: {
        flags: "nErsuz",
        values: "efl",
        attached: "i",
        longFlags: ["--quiet", "--silent", "--regexp-extended", "--in-place", "--sandbox"],
        longValues: ["--expression", "--file", "--line-length"],
      },
      code: ["e", "f", "--expression", "--file"],
      // Options may follow operands.
      afterCode: "after-dashes-or-text",
      afterScript: "after-dashes-or-text",
    },
  ],
];

export function findInterpreter(name: string): Interpreter | undefined {
  return interpreters.find(([pattern]) => pattern.test(name))?.[1];
}

/** Checks the arguments of an interpreter: its options and its code are literals, and later arguments follow its rule. */
export function interpreterProblems(
  program: string,
  interpreter: Interpreter,
  args: readonly Argument[],
): CommandLineProblem[] {
  const parsed = parseOptions(args, interpreter.options);
  if (parsed.kind === "unparsed") return [notParsed(parsed.argument, program)];

  const { options, operands, ended } = parsed;
  const given = options.filter(({ name }) => interpreter.code.includes(name));
  const isLiteralOnly = options.some(({ name }) => interpreter.literalWith?.includes(name));
  if (given.length > 0) {
    const code = given.map(({ value = "" }) => value).join("\n");
    const isRefused = isLiteralOnly || interpreter.isUnsafe?.(code);
    const rule = isRefused ? "nowhere" : interpreter.afterCode;
    return laterProblems(operands, { program, rule, ended });
  }
  const [script, ...rest] = operands;
  if (!script) return [];
  if (!script.isLiteral) return [{ kind: "in-code", argument: script }];
  if (interpreter.subcommands?.includes(script.text)) return [notParsed(script, program)];
  const isRefused = isLiteralOnly || interpreter.isUnsafe?.(script.content);
  const rule = isRefused ? "nowhere" : interpreter.afterScript;
  return laterProblems(rest, { program, rule, ended });
}

/** Checks the operands. An option among them is refused: the `--` that follows it could be its value. */
function laterProblems(
  operands: readonly Argument[],
  place: { readonly program: string; readonly rule: OperandRule; readonly ended: boolean },
): CommandLineProblem[] {
  const { program, rule, ended } = place;
  if (rule !== "after-dashes-or-text" || ended) return operandProblems(operands, place);
  const end = operands.findIndex(({ text }) => text === "--");
  const before = end < 0 ? operands : operands.slice(0, end);
  const stray = before.find(({ isLiteral, text }) => isLiteral && text.startsWith("-") && text !== "-");
  return stray ? [notParsed(stray, program)] : operandProblems(operands, place);
}
