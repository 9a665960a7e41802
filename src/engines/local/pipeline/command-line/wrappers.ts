import { isCodeVariable } from "../../../../resources/index.ts";
import { type Argument, toArgument } from "./argument.ts";
import { type OptionGrammar, parseOptions } from "./options.ts";
import { type CommandLineProblem, notParsed } from "./verdict.ts";

/** A program that runs the command line after its options. */
interface Wrapper {
  readonly options: OptionGrammar;
  /** The number of operands before the command. Default 0. */
  readonly operands?: number;
  /** Whether `NAME=value` is allowed before the command. */
  readonly assignments?: boolean;
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    options: {
      flags: "i0v",
      values: "uCS",
      longFlags: ["--ignore-environment", "--null", "--debug"],
      longValues: ["--unset", "--chdir", "--split-string"],
      last: ["S", "--split-string"],
    },
    assignments: true,
  },
  nice: { options: { values: "n", longValues: ["--adjustment"] } },
  nohup: { options: {} },
  setsid: { options: { flags: "cfw", longFlags: ["--ctty", "--fork", "--wait"] } },
  stdbuf: { options: { values: "ioe", longValues: ["--input", "--output", "--error"] } },
  time: { options: { flags: "apqv", values: "fo" } },
  timeout: {
    options: {
      flags: "v",
      values: "ks",
      longFlags: ["--preserve-status", "--foreground", "--verbose"],
      longValues: ["--kill-after", "--signal"],
    },
    operands: 1,
  },
  ionice: { options: { flags: "t", values: "cn", longFlags: ["--ignore"], longValues: ["--class", "--classdata"] } },
  taskset: { options: { flags: "ac", longFlags: ["--all-tasks", "--cpu-list"] }, operands: 1 },
  chrt: { options: { flags: "abfior" }, operands: 1 },
  chroot: { options: { longFlags: ["--skip-chdir"], longValues: ["--userspec", "--groups"] }, operands: 1 },
  setpriv: {
    options: {
      longFlags: ["--clear-groups", "--init-groups", "--keep-groups", "--no-new-privs", "--reset-env"],
      longValues: ["--reuid", "--regid", "--groups", "--bounding-set", "--inh-caps", "--ambient-caps"],
    },
  },
  sudo: {
    options: {
      flags: "AEHPnS",
      values: "gu",
      longFlags: ["--non-interactive", "--preserve-env", "--set-home"],
      longValues: ["--group", "--user"],
    },
    assignments: true,
  },
  doas: { options: { flags: "n", values: "Cu" } },
  gosu: { options: {}, operands: 1 },
  xargs: {
    options: {
      flags: "0rtx",
      values: "adEILnPs",
      longFlags: ["--null", "--no-run-if-empty", "--verbose", "--exit"],
      longValues: ["--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars"],
    },
  },
  nsenter: {
    options: {
      flags: "F",
      values: "tSG",
      attached: "amuinpCUTrw",
      longFlags: ["--all", "--mount", "--uts", "--ipc", "--net", "--pid", "--user", "--cgroup", "--no-fork"],
      longValues: ["--target", "--setuid", "--setgid"],
    },
  },
  flock: {
    options: {
      flags: "sxneouF",
      values: "wE",
      longFlags: ["--shared", "--exclusive", "--nonblock", "--close", "--no-fork", "--unlock"],
      longValues: ["--timeout", "--wait", "--conflict-exit-code"],
    },
    operands: 1,
  },
  // The next argument is the program.
  busybox: { options: {} },
  toybox: { options: {} },
};

export function findWrapper(name: string): Wrapper | undefined {
  return Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
}

export type Unwrapped =
  | { readonly kind: "command"; readonly argv: readonly Argument[] }
  | { readonly kind: "refused"; readonly problems: readonly CommandLineProblem[] };

/** Returns the command line that a wrapper runs. All arguments before it are literals, except for the values of assignments. */
export function unwrap(program: string, wrapper: Wrapper, args: readonly Argument[]): Unwrapped {
  const parsed = parseOptions(args, wrapper.options);
  if (parsed.kind === "unparsed") return refuse(notParsed(parsed.argument, program));

  const split = parsed.options.at(-1);
  if (split && wrapper.options.last?.includes(split.name)) {
    const words = splitWords(split.value ?? "");
    const last = args[args.length - parsed.operands.length - 1] as Argument;
    if (!words) return refuse(notParsed(last, program));
    // The words can contain options of env itself, so the whole list is parsed again.
    const { index } = last;
    const added = words.map((word) => toArgument(word, index === undefined ? {} : { index }));
    return unwrap(program, wrapper, [...added, ...parsed.operands]);
  }

  let rest = parsed.operands;
  const own = rest.slice(0, wrapper.operands ?? 0);
  const outside = own.find(({ isLiteral }) => !isLiteral);
  if (outside) return refuse({ kind: "in-code", argument: outside });
  rest = rest.slice(own.length);
  // flock FILE -c CODE: a shell runs the code.
  if (program === "flock" && ["-c", "--command"].includes(rest[0]?.text ?? "")) {
    rest = [toArgument("sh"), toArgument("-c"), ...rest.slice(1)];
  }
  // env: a lone dash is the option -i.
  if (program === "env" && rest[0]?.text === "-") rest = rest.slice(1);
  if (!wrapper.assignments) return { kind: "command", argv: rest };

  const end = rest.findIndex(({ start }) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(start));
  const assignments = end < 0 ? rest : rest.slice(0, end);
  const problems = assignments.filter(isCode).map((argument) => ({ kind: "in-code" as const, argument }));
  return problems.length > 0 ? refuse(...problems) : { kind: "command", argv: rest.slice(assignments.length) };
}

function isCode({ isLiteral, start }: Argument): boolean {
  return !isLiteral && isCodeVariable(start.split("=")[0] ?? "");
}

/** Returns the words of `env -S`; undefined if they contain quotes, escapes or variables, which are not interpreted here. */
function splitWords(text: string): readonly string[] | undefined {
  const words = text.split(/[ \t]+/).filter((word) => word !== "");
  return words.every((word) => /^[\w./=+:,@%-]+$/.test(word)) ? words : undefined;
}

function refuse(...problems: readonly CommandLineProblem[]): Unwrapped {
  return { kind: "refused", problems };
}
