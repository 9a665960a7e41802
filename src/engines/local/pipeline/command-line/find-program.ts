import type { Argument } from "./argument.ts";
import { type CommandLineProblem, notParsed } from "./verdict.ts";

/** Tests of `find` that compare a file with their value, which is always one argument. */
const dataTests = [
  ...["-name", "-iname", "-path", "-ipath", "-wholename", "-lname", "-user", "-group", "-size"],
  ...["-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-anewer", "-cnewer"],
];
const otherTests = ["-type", "-xtype", "-maxdepth", "-mindepth", "-perm", "-links", "-inum", "-fstype", "-uid", "-gid"];
const withoutValue = [
  ...["-print", "-print0", "-delete", "-prune", "-depth", "-empty", "-xdev", "-mount", "-daystart", "-nouser"],
  ...["-nogroup", "-executable", "-readable", "-writable", "-ls", "-quit", "-true", "-false", "-nowarn"],
  ...["!", "-not", "(", ")", "-o", "-or", "-a", "-and", ","],
];
const commands = ["-exec", "-execdir", "-ok", "-okdir"];

/**
 * Checks `find [paths] [expression]`. Substitutions are allowed in paths that begin with `/` or `./`, and in the value of a test that
 * compares it with a file. A command of `-exec` is a literal.
 */
export function findProblems(args: readonly Argument[]): CommandLineProblem[] {
  let at = ["-H", "-L", "-P"].includes(args[0]?.text ?? "") ? 1 : 0;
  for (let path = args[at]; path && isPath(path); path = args[at]) at++;
  while (at < args.length) {
    const token = args[at++] as Argument;
    if (!token.isLiteral) return [{ kind: "may-be-option", argument: token, program: "find", fix: pathFix }];
    if (withoutValue.includes(token.text)) continue;
    if (commands.includes(token.text)) {
      const end = args.findIndex((_argument, index) => index >= at && endsCommand(args, index));
      const outside = args.slice(at, end < 0 ? undefined : end).find(({ isLiteral }) => !isLiteral);
      if (outside) return [{ kind: "in-code", argument: outside }];
      at = end < 0 ? args.length : end + 1;
      continue;
    }
    const isData = dataTests.includes(token.text);
    if (!isData && !otherTests.includes(token.text)) return [notParsed(token, "find")];
    const value = args[at++];
    if (value && !value.isLiteral && (!isData || value.isList)) return [{ kind: "in-code", argument: value }];
  }
  return [];
}

/** Whether a command of `-exec` ends here: with `;`, or with a `+` right after `{}`. */
function endsCommand(args: readonly Argument[], index: number): boolean {
  const text = args[index]?.text;
  return text === ";" || (text === "+" && args[index - 1]?.text === "{}");
}

const pathFix = 'Begin a path with "/" or "./"';

function isPath({ start, isLiteral, text }: Argument): boolean {
  return isLiteral ? !/^[-(!,]/.test(text) : start.startsWith("/") || start.startsWith("./");
}
