import { describe, expect, it } from "vitest";
import { toArgument } from "./argument.ts";
import { commandLineProblems } from "./command-line-problems.ts";

const x = "$(params.x)";
const list = "$(params.l[*])";

describe("a command line with a parameter in code is refused", () => {
  it.each<[string, string[]]>([
    ["the code of a shell", ["sh", "-c", `echo ${x}`]],
    ["the code of a shell, with options in the cluster of c", ["sh", "-ce", `echo ${x}`]],
    ["the code of a shell after --", ["sh", "-c", "--", `echo ${x}`]],
    ["the code of a shell after further options", ["dash", "-c", "-x", "-e", `echo ${x}`]],
    ["the code of a shell with a plus", ["bash", "+ec", `echo ${x}`]],
    ["the code of a shell after the value of an option", ["bash", "-euo", "pipefail", "-c", `echo ${x}`]],
    ["the value of a shell's option", ["bash", "-o", x, "-c", "true"]],
    ["the options of a shell", ["sh", `-${x}`, "true"]],
    ["the script of a shell", ["sh", x]],
    ["the code of Python with a version", ["python3.11", "-c", `print(${x})`]],
    ["the code of Python, attached", ["python3", `-c${x}`]],
    ["the code of Python in a cluster", ["/opt/venv/bin/python", "-Ic", x]],
    ["the module of Python", ["python3", "-m", x]],
    ["the code of Node, attached", ["node", `--eval=${x}`]],
    ["the code of Node that is printed", ["nodejs", "-pe", x]],
    ["the module that Node loads first", ["node", "--require", x, "script.js"]],
    ["the code of Perl in a cluster", ["perl", "-lane", x]],
    ["the code of Perl, attached", ["perl", `-e${x}`]],
    ["the program of awk", ["awk", x, "/etc/passwd"]],
    ["a variable of awk", ["awk", "-v", `a=${x}`, "{ print a }"]],
    ["the script of sed", ["sed", "-n", x, "file"]],
    ["the script of sed, as a long option", ["sed", `--expression=${x}`, "file"]],
    ["a command that find runs", ["find", "/tmp", "-exec", "sh", "-c", x, ";"]],
    ["a command of find behind a plus that does not end it", ["find", "/", "-exec", "sh", "+", "-name", x, "{}", "+"]],
    ["the program behind env", ["env", x]],
    ["code behind env and its options", ["env", "-i", "-u", "A", "B=c", "sh", "-c", x]],
    ["code behind words that env splits", ["env", "-S", "sh -ec", x]],
    ["code behind words that env splits, attached", ["env", "--split-string=-i sh -c", x]],
    ["words that env splits", ["env", `-S${x}`]],
    ["a variable that a shell runs", ["env", `BASH_ENV=${x}`, "bash", "script"]],
    ["code behind several wrappers", ["nice", "-n", "5", "timeout", "-k", "1", "5", "setsid", "bash", "-c", x]],
    ["the operand of a wrapper", ["timeout", x, "true"]],
    ["code that flock runs", ["flock", "/tmp/lock", "-c", x]],
    ["code of an applet", ["busybox", "sh", "-c", x]],
    ["code in a container", ["kubectl", "exec", "pod/a", "--", "sh", "-c", x]],
    ["a list in place of options", ["sh", list, "-c", "true"]],
  ])("%s", (_what, argv) => {
    expect(kinds(argv)).toEqual([expect.stringMatching(/^(in-code|program) at \d+$/)]);
  });
});

describe("a command line is refused if a value could be read as an option", () => {
  it.each<[string, string[]]>([
    ["of Node, which reads options after its code", ["node", "-e", "1", x]],
    ["of Perl, which reads options after its code", ["perl", "-e", "1", x]],
    ["of sed, which reads options after files", ["sed", "p", x]],
    ["of an ordinary program", ["rm", "-rf", x]],
    ["of kubectl", ["kubectl", "delete", "pod", x]],
    ["as the value of an option that is a separate argument", ["kubectl", "get", "pods", "-n", x]],
    ["inside an option", ["rm", `-${x}`]],
    ["as a list", ["cat", list]],
    ["of find", ["find", x, "-delete"]],
    ["as a variable of awk", ["awk", "{ print }", x]],
  ])("%s", (_what, argv) => {
    expect(kinds(argv)).toEqual([expect.stringMatching(/^may-be-option at \d+$/)]);
  });
});

describe("a command line with a parameter is refused if the program may run it", () => {
  it.each<[string, string[]]>([
    ["a program that is not known", ["/opt/tools/clean", "--", x]],
    ["an interpreter under another name", ["my-shell", "-c", x]],
    ["ssh", ["ssh", "host", x]],
    ["tar", ["tar", "-cf", "a.tar", `--checkpoint-action=${x}`]],
    ["git", ["git", "-c", x, "status"]],
    ["su", ["su", "-c", x]],
    ["watch", ["watch", x]],
    ["a module of Python", ["python3", "-m", "timeit", x]],
    ["Perl with files as input, which opens commands", ["perl", "-ne", "print", "--", x]],
    ["Perl code that opens its arguments, which may be commands", ["perl", "-e", "print while <>", "--", x]],
    ["Perl code that reads its arguments by a method", ["perl", "-e", "print ARGV->getline", "--", x]],
    ["Perl code that reads its arguments by their name", ["perl", "-e", "$h = 'ARGV'; print <$h>", "--", x]],
    ["a Perl script that is not known", ["perl", "script.pl", x]],
    ["a program of the workflow that is called as a known one", ["./echo", x]],
    ["a program of another folder that is called as a known one", ["/opt/tools/cat", "--", x]],
    ["a wrapper of the workflow", ["bin/env", "echo", x]],
    ["an interpreter of the workflow", ["./python3", "script.py", x]],
    ["a command in a container without --", ["kubectl", "exec", "pod/a", "awk", `BEGIN { a = "${x}" }`]],
    ["a subcommand of kubectl that is not listed", ["kubectl", "run", "a", "--", x]],
    ["an option of kubectl whose value is not known to be data", ["kubectl", "config", `--kubeconfig=${x}`]],
  ])("%s", (_what, argv) => {
    expect(kinds(argv)).toEqual([expect.stringMatching(/^not-allowed at \d+$/)]);
  });
});

describe("an invocation that cannot be parsed is refused, even without a parameter", () => {
  it.each<[string, string[]]>([
    ["an unknown option of a shell", ["sh", "--strange", "-c", "true"]],
    ["a shell that reads its input", ["bash", "-s"]],
    ["an unknown option of Python", ["python3", "--strange", "script.py"]],
    ["an unknown option of Node", ["node", "--strange", "script.js"]],
    ["a subcommand of Node", ["node", "inspect", "script.js"]],
    ["switches for a Perl script", ["perl", "-s", "script.pl"]],
    ["an abbreviated option", ["timeout", "--kill=5", "5", "true"]],
    ["an option after the operands of sed", ["sed", "p", "-e", "--", "file"]],
    ["words with quotes for env", ["env", "-S", "sh -c 'echo'"]],
    ["an action of find that writes a file", ["find", "/", "-fprintf", "f", "%p"]],
    ["a variable in place of the program", ["A=/bin/echo", "sh"]],
    ["an unknown option of a shell of the workflow", ["./sh", "--strange", "-c", "true"]],
  ])("%s", (_what, argv) => {
    expect(kinds(argv)).toEqual([expect.stringMatching(/^unparsed at \d+$/)]);
  });
});

describe("a parameter may stand", () => {
  it.each<[string, string[]]>([
    ["after the code of a shell", ["sh", "-c", 'echo "$1"', "name", x, list]],
    ["after the code of a shell with many options", ["bash", "--norc", "-euo", "pipefail", "-c", "--", "true", x]],
    ["after the script of a shell", ["bash", "-e", "/opt/run.sh", x]],
    ["after the code of Python", ["python3", "-I", "-c", "import sys", "--name", x]],
    ["after a script of Python", ["python3.11", "-u", "script.py", x]],
    ["after a script of a Python with a folder of its own", ["/opt/venv/bin/python", "script.py", x]],
    ["after -- behind the code of Node", ["node", "-e", "1", "--", x]],
    ["after a script of Node", ["node", "--no-warnings", "script.js", x]],
    ["after -- behind the code of Perl", ["perl", "-we", "print $ARGV[0], @ARGV, $#ARGV", "--", x]],
    ["after a script of Tcl", ["tclsh", "script.tcl", x]],
    ["in a path for awk", ["awk", "-F:", "{ print $1 }", `/var/log/${x}`]],
    ["after -- for sed", ["sed", "-n", "-e", "p", "--", x]],
    ["in a path for sed", ["sed", "-n", "p", `./${x}`]],
    ["in a path and a test of find", ["find", `/var/${x}`, "-type", "f", "-name", x, "-mtime", `+${x}`, "-delete"]],
    ["anywhere for echo", ["echo", x, `-${x}`, list]],
    ["after -- for an ordinary program", ["rm", "-rf", "--", x, list]],
    ["behind literal text", ["kubectl", "delete", `pod/${x}`, `--namespace=${x}`]],
    ["in a container, after the code", ["kubectl", "exec", `pod/${x}`, "--", "sh", "-c", "true", "name", x]],
    ["in a variable that env sets", ["env", "-i", `NAME=${x}`, "sh", "-c", 'echo "$NAME"']],
    ["behind wrappers", ["nice", "nohup", "timeout", "5", "env", "-S", "sh -c", "true", "name", x]],
  ])("%s", (_where, argv) => {
    expect(kinds(argv)).toEqual([]);
  });
});

function kinds(argv: readonly string[]): readonly string[] {
  const problems = commandLineProblems(argv.map((text, index) => toArgument(text, { index })));
  return problems.map(({ kind, argument }) => `${kind} at ${argument.index}`);
}
