/** No argument of a process can contain it, so it marks a value without ambiguity. */
const mark = "\0";

/** Options that kubectl accepts before the command too. Each takes a value. */
const leadingOptions = ["--context", "--kubeconfig", "--namespace", "-n", "--config", "--data"];

/**
 * Arguments in the order that commands are declared for: options before the command go behind it, as in
 * `--context prod get incidents`. The value of `--reason=--force` is marked as intended.
 */
export function arrangeArguments(args: readonly string[]): readonly string[] {
  const [leading, rest] = takeLeading(args);
  const end = rest.indexOf("--");
  const [parsed, verbatim] = end < 0 ? [rest, []] : [rest.slice(0, end), rest.slice(end)];
  const marked = [...parsed, ...leading].map((arg) => arg.replace(/^(--[^=]+=)(?=--)/, `$1${mark}`));
  return [...marked, ...verbatim];
}

function takeLeading(args: readonly string[]): readonly [readonly string[], readonly string[]] {
  let count = 0;
  for (;;) {
    const arg = args[count] ?? "";
    if (leadingOptions.includes(arg)) count += 2;
    else if (leadingOptions.some((option) => arg.startsWith(`${option}=`))) count++;
    else break;
  }
  return count < args.length ? [args.slice(0, count), args.slice(count)] : [[], args];
}

/** The value of an option. Undefined if it looks like an option, whose own value was forgotten. */
export function optionValue(text: string): string | undefined {
  if (text.startsWith(mark)) return text.slice(mark.length);
  return text.startsWith("--") ? undefined : text;
}
