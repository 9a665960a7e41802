import type { Argument, Command, Option } from "commander";
import type { DeskOptions } from "../context.ts";
import { kindWords } from "../declare/declare.ts";

/** What the last word of a command line may become. */
export interface Completion {
  /** Words that are known without asking a server, each with a description if there is one. */
  readonly words: readonly Word[];
  /** What has to be looked up. */
  readonly lookups: readonly Lookup[];
  /** Put before each candidate: `--target=` in `--target=no`. */
  readonly prefix: string;
  /** The part to complete, without the prefix. */
  readonly text: string;
  /** The options on the line that name the server to ask. */
  readonly server: DeskOptions & { readonly namespace?: string };
}

export interface Word {
  readonly text: string;
  readonly description?: string;
}

/** Names of objects by the word for their kind, and other things that a server, a kubeconfig or the disk has. */
export type Lookup = KindWord | FilterLookup | "contexts" | "namespaces" | "target texts" | "workflow ids" | "files";

/** Values of the filters of `interlock get`, which the schema of the kind lists. */
export type FilterLookup = `${"phases" | "reasons"} of ${KindWord}`;

type KindWord = (typeof kindWords)[number];

/** What an argument stands for, by its name in the usage. */
const argumentLookups: Readonly<Record<string, readonly Lookup[]>> = {
  subject: ["incidents", "executions", "tasks", "target texts"],
  "execution-or-incident": ["executions", "incidents"],
  "approval-or-incident": ["approvals", "incidents"],
  "execution-incident-or-task": ["executions", "incidents", "tasks"],
  "pause-or-scope": ["pauses"],
  workflow: ["workflow ids"],
  target: ["target texts"],
  files: ["files"],
};

const scopeWords = ["all", "namespace", "target", "workflow"];
const argumentWords: Readonly<Record<string, readonly string[]>> = {
  kind: kindWords,
  scope: scopeWords,
  "pause-or-scope": scopeWords,
  shell: ["bash", "zsh", "fish"],
};

const optionLookups: Readonly<Record<string, readonly Lookup[]>> = {
  "--context": ["contexts"],
  "--namespace": ["namespaces"],
  "--target": ["target texts"],
  "--workflow": ["workflow ids"],
  "--incident": ["incidents"],
  "--execution": ["executions"],
  "--approval": ["approvals"],
};

/** Finds what may follow `given`, whose last word is the one to complete and may be empty. */
export function findCompletion(program: Command, given: readonly string[]): Completion {
  const text = given.at(-1) ?? "";
  const { command, positional, pending, server } = walk(program, given.slice(0, -1));
  const found = (part: Partial<Completion>): Completion => ({
    words: [],
    lookups: [],
    prefix: "",
    text,
    server,
    ...part,
  });

  if (pending) return found(valuesOf(pending, text));
  const [, name = "", value] = /^(--[^=]+)=(.*)$/s.exec(text) ?? [];
  const option = findOption(command, name);
  if (option && value !== undefined) return found(valuesOf(option, value, `${name}=`));
  if (text.startsWith("-")) return found({ words: optionWords(command) });
  if (command.commands.length > 0) return found({ words: commandWords(command) });
  return found(argumentValues(command, positional));

  function valuesOf(option: Option, value: string, prefix = ""): Partial<Completion> {
    const lookups = filterLookups(option, positional);
    if (lookups.length === 0) return { ...optionValues(option), prefix, text: value };
    // Several values with commas between them: the last one is completed.
    const comma = value.lastIndexOf(",") + 1;
    return { lookups, prefix: prefix + value.slice(0, comma), text: value.slice(comma) };
  }
}

function filterLookups({ long }: Option, [kind = ""]: readonly string[]): readonly FilterLookup[] {
  if (long === "--phase") return namedKind(kind).map((word) => `phases of ${word}` as const);
  if (long === "--reason") return namedKind(kind).map((word) => `reasons of ${word}` as const);
  return [];
}

interface Walk {
  readonly command: Command;
  readonly positional: readonly string[];
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
  readonly server: Completion["server"];
}

/** Follows the words to the command that they name. */
function walk(program: Command, words: readonly string[]): Walk {
  let command = program;
  let pending: Option | undefined;
  const positional: string[] = [];
  const server: Record<string, string> = {};
  for (const word of words) {
    if (pending) {
      server[pending.attributeName()] = word;
      pending = undefined;
      continue;
    }
    const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = findOption(command, name) ?? leadingOption(command, name);
    const subcommand = positional.length === 0 ? findCommand(command, word) : undefined;
    if (option && value !== undefined) server[option.attributeName()] = value;
    else if (option) pending = option.required ? option : undefined;
    else if (subcommand) command = subcommand;
    else if (!word.startsWith("-")) positional.push(word);
  }
  return { command, positional, pending, server };
}

function findCommand(parent: Command, word: string): Command | undefined {
  return parent.commands.find((one) => one.name() === word || one.aliases().includes(word));
}

function findOption(command: Command, name: string): Option | undefined {
  return ownAndInherited(command).find(({ short, long }) => name !== "" && (short === name || long === name));
}

/** Before the command, as in `--context prod get`, the options are those that a command will have. */
function leadingOption(command: Command, name: string): Option | undefined {
  return command.parent ? undefined : command.commands.map((one) => findOption(one, name)).find(Boolean);
}

function ownAndInherited(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? ownAndInherited(command.parent) : [])];
}

function optionWords(command: Command): readonly Word[] {
  const options = ownAndInherited(command).filter(({ hidden, long }) => !hidden && long && long !== "--version");
  return [...options, ...[{ long: "--help", description: "print the options and an example" }]].map(
    ({ long, description }) => ({ text: long ?? "", description }),
  );
}

function commandWords(command: Command): readonly Word[] {
  const isVisible = (one: Command) => !one.name().startsWith("__");
  return command
    .createHelp()
    .visibleCommands(command)
    .filter(isVisible)
    .map((one) => ({ text: one.name(), description: one.summary() || one.description() }));
}

function optionValues({ argChoices, long = "", flags }: Option): Pick<Completion, "words" | "lookups"> {
  const lookups = optionLookups[long ?? ""] ?? (/<(FILE|DIR)/.test(flags) ? (["files"] as const) : []);
  return { words: (argChoices ?? []).map((text) => ({ text })), lookups };
}

function argumentValues(command: Command, positional: readonly string[]): Pick<Completion, "words" | "lookups"> {
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const argument: Argument | undefined = all[positional.length] ?? (last?.variadic ? last : undefined);
  if (!argument) return { words: [], lookups: [] };
  const name = argument.name();
  const [first = ""] = positional;
  if (command.name() === "get" && name === "name") return { words: [], lookups: namedKind(first) };
  // The scope of a pause is two words: the second depends on the first.
  if (name === "scope" || name === "pause-or-scope") return scopeValues(name, positional);
  return {
    words: (argumentWords[name] ?? argument.argChoices ?? []).map((text) => ({ text })),
    lookups: argumentLookups[name] ?? [],
  };
}

function scopeValues(name: string, [first, second]: readonly string[]): Pick<Completion, "words" | "lookups"> {
  const words = first === undefined ? scopeWords.map((text) => ({ text })) : [];
  if (second !== undefined) return { words: [], lookups: [] };
  const below: Readonly<Record<string, readonly Lookup[]>> = {
    namespace: ["namespaces"],
    target: ["target texts"],
    workflow: ["workflow ids"],
  };
  return { words, lookups: first === undefined ? (argumentLookups[name] ?? []) : (below[first] ?? []) };
}

/** Only our own words: the short names of kubectl would need the schemas of all kinds. */
function namedKind(word: string): readonly KindWord[] {
  return kindWords.filter((kind) => kind === word || kind.slice(0, -1) === word);
}
