import { Command, CommanderError } from "commander";
import { CommandError, type Desk, MisuseError } from "./command.ts";
import type { CommandContext, DeskOptions } from "./context.ts";
import { type About, type Declare, type Implementation, value, withConfig, withServer } from "./declare/declare.ts";
import { declareInspection } from "./declare/inspect.ts";
import { declareOperations } from "./declare/operate.ts";
import { declareProcesses } from "./declare/processes.ts";
import { versionText } from "./package.ts";

/** Opens what commands work with. Nothing is opened, or even imported, for the help. */
export interface Environments {
  inContext: Within<CommandContext>;
  atDesk: Within<Desk>;
}

/** Opens the environment that `options` name, and has `work` done in it. */
type Within<Environment> = (
  options: DeskOptions,
  work: (environment: Environment) => Promise<number | undefined>,
) => Promise<number | undefined>;

/** Performs what an operator typed behind `interlock`. Returns the exit status; undefined if the process keeps running. */
export async function interlock(args: readonly string[], environments: Environments): Promise<number | undefined> {
  let status: number | undefined;
  const program = createProgram(environments, (result) => {
    status = result;
  });
  try {
    const [first = "help", ...rest] = args;
    await program.parseAsync([first === "version" ? "--version" : first, ...rest], { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    throw error;
  }
}

/** All commands. `finish` receives the exit status of the one that is performed. */
export function createProgram(environments: Environments, finish: (status: number | undefined) => void): Command {
  const program = new Command("interlock")
    .version(versionText(), "--version", "print the version")
    // Errors are thrown, and printed in one place.
    .configureOutput({ writeErr: () => {} })
    .helpCommand("help [command]", "print the options of a command and an example")
    .addHelpText("after", "\nType interlock help COMMAND for its options and an example.");
  refuseMisuse(program);

  function perform<Environment>(
    command: Command,
    within: Within<Environment>,
    load: () => Promise<Implementation<Environment>>,
  ): Command {
    return command.action(async (...given: readonly unknown[]) => {
      const implementation = await load();
      // Behind the arguments are the command's own options, without those of its parent, and the command.
      const [args, options] = [given.slice(0, -2), command.optsWithGlobals()];
      const work = async (environment: Environment) =>
        (await implementation(environment, ...([...args, options] as never[]))) ?? undefined;
      try {
        finish(await within(options, work));
      } catch (error) {
        throw error instanceof MisuseError ? misuse(error.message, command) : error;
      }
    });
  }

  const add = (usage: string, about: About, parent = program) => refuseMisuse(describe(parent.command(usage), about));
  const declare: Declare = {
    family: add,
    inContext: (usage, about, parent) => perform(add(usage, about, parent), environments.inContext, about.load),
    atDesk: (usage, about) => perform(withDeskOptions(add(usage, about)), environments.atDesk, about.load),
  };
  declareProcesses(declare);
  declareInspection(declare);
  declareOperations(declare);
  return program;
}

function describe(command: Command, { summary, details, example, group }: About): Command {
  const description = details === undefined ? `${summary}.` : `${summary}.\n\n${details}`;
  if (group) command.helpGroup(`${group}:`);
  examples.set(command, example);
  return command.summary(summary).description(description).addHelpText("after", `\nFor example:\n  ${example}`);
}

const examples = new WeakMap<Command, string>();

/** Has commander's errors thrown in our form. */
function refuseMisuse(command: Command): Command {
  return command.exitOverride((error) => {
    if (error.exitCode === 0) throw error;
    if (error.code === "commander.help") throw misuse(`missing subcommand: ${subcommands(command)}`, command);
    const [, problem = "", suggestion] = /^(?:error: )?(.*?)\.?(?:\n\((.*)\))?$/s.exec(error.message) ?? [];
    throw misuse(suggestion ? `${problem} (${suggestion.toLowerCase()})` : problem, command);
  });
}

function subcommands(command: Command): string {
  return command.commands.map((one) => one.name()).join(", ");
}

function misuse(problem: string, command: Command): CommandError {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name());
  const example = examples.get(command);
  const help = ["interlock help", ...names.slice(0, 1)].join(" ");
  return new CommandError(`${problem}; see ${help}`, example === undefined ? [] : [`for example: ${example}`]);
}

function withDeskOptions(command: Command): Command {
  const described = command.option("--data <DIR>", "data directory of up; default INTERLOCK_DATA, else .data", value);
  return withConfig(withServer(described, "DIR/kubeconfig"));
}
