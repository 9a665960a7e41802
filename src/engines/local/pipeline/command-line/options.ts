import type { Argument } from "./argument.ts";

/** The known options of a program. An option that is not listed cannot be parsed. */
export interface OptionGrammar {
  /** Letters of options without a value. */
  readonly flags?: string;
  /** Letters of options whose value is the rest of the argument or, if that is empty, the next argument. */
  readonly values?: string;
  /** Letters of options whose value, if there is one, is the rest of the argument. */
  readonly attached?: string;
  /** Options without a value that stand alone, with their dashes. */
  readonly longFlags?: readonly string[];
  /** Options that stand alone and have a value, with their dashes: `--name=value` or `--name value`, `-name value`. */
  readonly longValues?: readonly string[];
  /** Options after which everything is an operand. */
  readonly last?: readonly string[];
}

/** A parsed option: `c` for `-c`, `--eval` for `--eval=…`. */
export interface Option {
  readonly name: string;
  readonly value?: string;
}

export type ParsedOptions =
  | {
      readonly kind: "parsed";
      readonly options: readonly Option[];
      /** Whether `--` ended the options. */
      readonly ended: boolean;
      readonly operands: readonly Argument[];
    }
  /** `argument` is an unknown option, or contains a substitution. */
  | { readonly kind: "unparsed"; readonly argument: Argument };

/** Parses the options up to `--` or the first operand. All arguments before the operands are literals. */
export function parseOptions(args: readonly Argument[], grammar: OptionGrammar): ParsedOptions {
  const options: Option[] = [];
  let at = 0;
  for (let argument = args[at]; argument; argument = args[at]) {
    if (argument.text === "--") return { kind: "parsed", options, ended: true, operands: args.slice(at + 1) };
    if (!argument.start.startsWith("-") || argument.text === "-") break;
    if (!argument.isLiteral) return { kind: "unparsed", argument };
    const found = longOption(argument.text, grammar) ?? shortOptions(argument.text, grammar);
    const last = found?.at(-1);
    if (!found || !last) return { kind: "unparsed", argument };
    at++;
    if (last.value === undefined && needsValue(last.name, grammar)) {
      const value = args[at++];
      if (!value?.isLiteral) return { kind: "unparsed", argument: value ?? argument };
      options.push(...found.slice(0, -1), { ...last, value: value.text });
    } else options.push(...found);
    if (grammar.last?.includes(last.name)) break;
  }
  return { kind: "parsed", options, ended: false, operands: args.slice(at) };
}

/** Parses a long option. A prefix of its name is not accepted: versions of a program can complete it differently. */
function longOption(text: string, { longFlags = [], longValues = [] }: OptionGrammar): Option[] | undefined {
  if (longFlags.includes(text) || longValues.includes(text)) return [{ name: text }];
  const equals = text.indexOf("=");
  const name = text.slice(0, equals);
  const isKnown = equals > 0 && name.startsWith("--") && longValues.includes(name);
  return isKnown ? [{ name, value: text.slice(equals + 1) }] : undefined;
}

/** Parses the options of a cluster such as `-euo`. The value of the last one can follow it directly. */
function shortOptions(text: string, { flags = "", values = "", attached = "" }: OptionGrammar): Option[] | undefined {
  if (text.startsWith("--")) return undefined;
  const options: Option[] = [];
  for (let at = 1; at < text.length; at++) {
    const name = text[at] as string;
    const rest = text.slice(at + 1);
    if (values.includes(name)) return [...options, rest === "" ? { name } : { name, value: rest }];
    if (attached.includes(name)) return [...options, { name, value: rest }];
    if (!flags.includes(name)) return undefined;
    options.push({ name });
  }
  return options;
}

function needsValue(name: string, { values = "", longValues = [] }: OptionGrammar): boolean {
  return name.startsWith("-") ? longValues.includes(name) : values.includes(name);
}
