import { type Command, InvalidArgumentError, Option } from "commander";
import type { ServerContext } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { optionValue } from "../parsing/arguments.ts";

/** The description of a command in the help. */
export interface CommandHelp {
  /** Starts with an imperative verb; for the list of commands and the first line of the help. */
  readonly summary: string;
  readonly details?: string;
  readonly example: string;
  readonly group?: string;
}

/** A command with its implementation, which is imported when the command is performed. */
export interface CommandSpec<Context> extends CommandHelp {
  readonly load: () => Promise<Implementation<Context>>;
}

/** The code of a command: it receives its context, the arguments and the options. Without an exit status, it is ok. */
export type Implementation<Context> = (
  context: Context,
  ...argumentsAndOptions: never[]
) => Promise<number> | Promise<void>;

/** Adds commands, such as `get <kind> [name]`, below `parent` or at the top. */
export interface ProgramBuilder {
  /** A command with subcommands. */
  parentCommand(name: string, about: CommandHelp): Command;
  command(usage: string, about: CommandSpec<CommandContext>, parent?: Command): Command;
  /** A command that calls the API server: it has the options that name the server. */
  serverCommand(usage: string, about: CommandSpec<ServerContext>): Command;
}

/** The value of an option. An option behind an option is a forgotten value, unless an equals sign joins them. */
export function value(text: string): string {
  const found = optionValue(text);
  if (found) return found;
  throw new InvalidArgumentError(found === "" ? "It is empty." : "It is an option.");
}

/** For options that may be repeated. */
export function values(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value(text)];
}

/** The options for the namespace that a command searches. */
export function withNamespace(command: Command): Command {
  return command
    .option("-n, --namespace <NS>", "search only this namespace; default INTERLOCK_NAMESPACE, else all", value)
    .option("-A, --all-namespaces", "search all namespaces");
}

/** `-o`, with the formats that a command has; `jsonpath` is followed by a template. */
export function outputOption(formats: readonly string[], meaning: string): Option {
  const option = new Option("-o, --output <FORMAT>", meaning).choices(formats);
  return option.argParser((text) => {
    if (formats.includes(text.replace(/=.*$/s, ""))) return text;
    throw new InvalidArgumentError(`Allowed choices are ${formats.join(", ")}.`);
  });
}

/** The reason of an operator's command, which is recorded in the ledger. */
export function withReason(command: Command): Command {
  return command.requiredOption("--reason <TEXT>", "why; recorded in the ledger", (text) => value(text.trim()));
}

/** For commands that change something. */
export function withDryRun(command: Command): Command {
  return command.option("--dry-run", "change nothing: make all checks, and print what would be done");
}

/** For commands that show their progress. */
export function quietOption(): Option {
  return new Option("-q, --quiet", "show no progress");
}

/** For commands that read the files of `up`. */
export function withData(command: Command): Command {
  return command.option("--data <DIR>", "data directory of up; default INTERLOCK_DATA, else .data", value);
}

export function withConfig(command: Command): Command {
  const order = "default INTERLOCK_CONFIG, else interlock.yaml, else ~/.config/interlock/config.yaml";
  return command.option("--config <FILE>", `settings in YAML, see docs/configuration.md; ${order}`, value);
}

/** The options that name an API server; `own` is the kubeconfig that `up` and `api` write. */
export function withServer(command: Command, own: string): Command {
  const order = `default INTERLOCK_KUBECONFIG, else ${own}, which up and api write, else the files of KUBECONFIG, merged as kubectl does, else ~/.kube/config`;
  return command
    .option("--kubeconfig <FILE>", `the API server; ${order}`, value)
    .option(
      "--context <NAME>",
      "context of the kubeconfig; default INTERLOCK_KUBE_CONTEXT, else the current one",
      value,
    );
}

/** The options of commands that serve the embedded API server. */
export function withApiOptions(command: Command): Command {
  return command
    .option("--data <DIR>", "directory of all data; default INTERLOCK_DATA, else .data", value)
    .option("--listen <HOST:PORT>", "address of the API server; port 0 selects a free one", value, "127.0.0.1:7080")
    .option(
      "--token <TOKEN>",
      "the admin's token; prefer INTERLOCK_TOKEN, which no process list shows. Without either, one is created in the data directory",
      value,
    )
    .option(
      "--accept-plain-tokens",
      "accept tokens over plain HTTP, not over TLS alone; only on a loopback address. Or INTERLOCK_ACCEPT_PLAIN_TOKENS=true",
    )
    .option("--kubeconfig-out <FILE>", "where the kubeconfig is written; default DIR/kubeconfig", value);
}

/** The names of our kinds on the command line. */
export const kindNames = [
  "incidents",
  "executions",
  "targets",
  "workflows",
  "pauses",
  "approvals",
  "notices",
  "tasks",
] as const;

/** The sources from which `interlock ledger` reads rows. */
export const ledgerSources = ["database", "journal"] as const;

/** The first argument of the scope of a pause. */
export const pauseScopes: readonly string[] = ["all", "namespace", "target", "workflow"];
