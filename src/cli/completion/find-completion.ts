import type { Argument, Command, Option } from "commander";
import type { ContextOptions } from "../context.ts";
import { kindNames, pauseScopes } from "../declare/declare.ts";
import type { KindName } from "../parsing/kinds.ts";

/** The candidates for the last argument of a command line. */
export interface Completion {
  /** Candidates that need no lookup. */
  readonly candidates: readonly Candidate[];
  /** Candidates that have to be looked up. */
  readonly lookups: readonly Lookup[];
  /** Put before each candidate: `--target=` in `--target=no`. */
  readonly prefix: string;
  /** The part to complete, without the prefix. */
  readonly text: string;
  /** The options on the line that name the server. */
  readonly server: ContextOptions & { readonly namespace?: string };
}

export interface Candidate {
  readonly text: string;
  readonly description?: string;
}

/** Names of objects of a kind, or other things that a server, a kubeconfig or the disk has. */
export type Lookup = KindName | FilterLookup | "contexts" | "namespaces" | "target texts" | "workflow ids" | "files";

/** Values of the filters of `interlock get`, which the schema of the kind lists. */
export type FilterLookup = `${"phases" | "reasons"} of ${KindName}`;

/** The lookups for an argument, by its name in the usage. */
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

const argumentChoices: Readonly<Record<string, readonly string[]>> = {
  kind: kindNames,
  scope: pauseScopes,
  "pause-or-scope": pauseScopes,
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

/** Finds the candidates for the last of `args`, which may be empty. */
export function findCompletion(program: Command, args: readonly string[]): Completion {
  const text = args.at(-1) ?? "";
  const { command, positional, pending, server } = walk(program, args.slice(0, -1));
  const found = (part: Partial<Completion>): Completion => ({
    candidates: [],
    lookups: [],
    prefix: "",
    text,
    server,
    ...part,
  });

  if (pending) return found(completeValue(pending, text));
  const [, name = "", value] = /^(--[^=]+)=(.*)$/s.exec(text) ?? [];
  const option = findOption(command, name);
  if (option && value !== undefined) return found(completeValue(option, value, `${name}=`));
  if (text.startsWith("-")) return found({ candidates: optionCandidates(command) });
  if (command.commands.length > 0) return found({ candidates: commandCandidates(command) });
  return found(argumentValues(command, positional));

  function completeValue(option: Option, value: string, prefix = ""): Partial<Completion> {
    const lookups = filterLookups(option, positional);
    if (lookups.length === 0) return { ...optionValues(option), prefix, text: value };
    // Several values with commas between them: the last one is completed.
    const comma = value.lastIndexOf(",") + 1;
    return { lookups, prefix: prefix + value.slice(0, comma), text: value.slice(comma) };
  }
}

function filterLookups({ long }: Option, [kind = ""]: readonly string[]): readonly FilterLookup[] {
  if (long === "--phase") return findKindName(kind).map((name) => `phases of ${name}` as const);
  if (long === "--reason") return findKindName(kind).map((name) => `reasons of ${name}` as const);
  return [];
}

interface Walk {
  readonly command: Command;
  readonly positional: readonly string[];
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
  readonly server: Completion["server"];
}

/** Finds the command that `args` name. */
function walk(program: Command, args: readonly string[]): Walk {
  let command = program;
  let pending: Option | undefined;
  const positional: string[] = [];
  const server: Record<string, string> = {};
  for (const arg of args) {
    if (pending) {
      server[pending.attributeName()] = arg;
      pending = undefined;
      continue;
    }
    const [, name = arg, value] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
    const option = findOption(command, name) ?? leadingOption(command, name);
    const subcommand = positional.length === 0 ? findCommand(command, arg) : undefined;
    if (option && value !== undefined) server[option.attributeName()] = value;
    else if (option) pending = option.required ? option : undefined;
    else if (subcommand) command = subcommand;
    else if (!arg.startsWith("-")) positional.push(arg);
  }
  return { command, positional, pending, server };
}

function findCommand(parent: Command, name: string): Command | undefined {
  return parent.commands.find((one) => one.name() === name || one.aliases().includes(name));
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

function optionCandidates(command: Command): readonly Candidate[] {
  const options = ownAndInherited(command).filter(({ hidden, long }) => !hidden && long && long !== "--version");
  return [...options, ...[{ long: "--help", description: "print the options and an example" }]].map(
    ({ long, description }) => ({ text: long ?? "", description }),
  );
}

function commandCandidates(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ text: one.name(), description: one.summary() || one.description() }));
}

function optionValues({ argChoices, long = "", flags }: Option): Pick<Completion, "candidates" | "lookups"> {
  const lookups = optionLookups[long ?? ""] ?? (/<(FILE|DIR)/.test(flags) ? (["files"] as const) : []);
  return { candidates: (argChoices ?? []).map((text) => ({ text })), lookups };
}

function argumentValues(command: Command, positional: readonly string[]): Pick<Completion, "candidates" | "lookups"> {
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const argument: Argument | undefined = all[positional.length] ?? (last?.variadic ? last : undefined);
  if (!argument) return { candidates: [], lookups: [] };
  const name = argument.name();
  const [first = ""] = positional;
  if (command.name() === "get" && name === "name") return { candidates: [], lookups: findKindName(first) };
  // The scope of a pause is two arguments: the second depends on the first.
  if (name === "scope" || name === "pause-or-scope") return scopeValues(name, positional);
  return {
    candidates: (argumentChoices[name] ?? argument.argChoices ?? []).map((text) => ({ text })),
    lookups: argumentLookups[name] ?? [],
  };
}

function scopeValues(name: string, [first, second]: readonly string[]): Pick<Completion, "candidates" | "lookups"> {
  const candidates = first === undefined ? pauseScopes.map((text) => ({ text })) : [];
  if (second !== undefined) return { candidates: [], lookups: [] };
  const below: Readonly<Record<string, readonly Lookup[]>> = {
    namespace: ["namespaces"],
    target: ["target texts"],
    workflow: ["workflow ids"],
  };
  return { candidates, lookups: first === undefined ? (argumentLookups[name] ?? []) : (below[first] ?? []) };
}

/** Only our own names: the short names of kubectl would need the schemas of all kinds. */
function findKindName(text: string): readonly KindName[] {
  return kindNames.filter((kind) => kind === text || kind.slice(0, -1) === text);
}
