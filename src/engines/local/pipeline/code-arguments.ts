const shells = ["sh", "bash", "dash", "ash", "ksh", "zsh", "fish", "busybox", "su"];
const interpreters = ["python", "python2", "python3", "node", "perl", "ruby", "php", "lua"];

/**
 * The places in a command line at which some interpreter expects code: `sh -c CODE`, `python3 -c CODE`, `node -e CODE`.
 * A parameter put into code could be run as code. The list is of usual interpreters; whoever feeds a parameter to an
 * unusual one has to know what that does with it.
 */
export function codeArguments(argv: readonly string[]): readonly number[] {
  const places: number[] = [];
  let takesCode: RegExp | undefined;
  for (const [index, argument] of argv.entries()) {
    const program = argument.split("/").at(-1) ?? "";
    if (shells.includes(program)) takesCode = /^-[a-zA-Z]*c$/;
    else if (interpreters.includes(program)) takesCode = /^(-[a-zA-Z]*[cerp]|--eval|--print)$/;
    else if (program === "eval") for (let next = index + 1; next < argv.length; next++) places.push(next);
    if (takesCode?.test(argument)) places.push(index + 1);
  }
  return places;
}
