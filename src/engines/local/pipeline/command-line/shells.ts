import type { Argument } from "./argument.ts";
import { type CommandLineProblem, notParsed } from "./verdict.ts";

/** The known options without a value of each shell, apart from `c` and `o`, which all shells have. */
const shellFlags: Readonly<Record<string, string>> = {
  sh: "abefhimnuvxCl",
  dash: "abefimnuvxClIE",
  ash: "abefimnuvxCl",
  ksh: "abefhimnuvxC",
  mksh: "abefhimnuvxCl",
  zsh: "efilmnuvx",
  bash: "abefhiklmnprtuvxBCEHPT",
  rbash: "abefhiklmnprtuvxBCEHPT",
};
const bashLongOptions = ["--login", "--noediting", "--noprofile", "--norc", "--posix", "--restricted", "--verbose"];

export function isShell(name: string): boolean {
  return Object.hasOwn(shellFlags, name);
}

/**
 * Checks `sh [options] -c CODE [name [arguments]]` and `sh [options] SCRIPT [arguments]`. The `c` can be in any cluster, and further
 * options can follow it: the code is the first operand, like a script. Arguments after it are data.
 */
export function shellProblems(shell: string, args: readonly Argument[]): CommandLineProblem[] {
  const isBash = shell.endsWith("bash");
  let at = 0;
  for (let argument = args[at]; argument; argument = args[at]) {
    at++;
    if (argument.text === "--" || argument.text === "-") break;
    if (!/^[-+]/.test(argument.start)) {
      at--;
      break;
    }
    if (isBash && bashLongOptions.includes(argument.text)) continue;
    const letters = argument.isLiteral ? argument.text.slice(1) : undefined;
    if (letters === undefined || !isCluster(shell, letters)) return [notParsed(argument, shell)];
    // Each o and O has an argument of its own, after the whole cluster.
    for (const _ of letters.replace(/[^oO]/g, "")) {
      const value = args[at++];
      if (!value?.isLiteral) return [notParsed(value ?? argument, shell)];
    }
  }
  const code = args[at];
  return code && !code.isLiteral ? [{ kind: "in-code", argument: code }] : [];
}

function isCluster(shell: string, letters: string): boolean {
  const known = `${shellFlags[shell] ?? ""}co${shell.endsWith("bash") ? "O" : ""}`;
  return letters !== "" && [...letters].every((letter) => known.includes(letter));
}
