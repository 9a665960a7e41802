import { Command, CommanderError } from "commander";
import { exitStatus, exitStatuses, MisuseError } from "./command.ts";
import type { Contexts, WithContext } from "./context.ts";
import {
  type CommandHelp,
  type Implementation,
  type ProgramBuilder,
  withConfig,
  withData,
  withServer,
} from "./declare/declare.ts";
import { declareInspection } from "./declare/inspect.ts";
import { declareInstallation } from "./declare/install.ts";
import { declareOperations } from "./declare/operate.ts";
import { declareProcesses } from "./declare/processes.ts";
import { declareStart } from "./declare/start.ts";
import { versionText } from "./package.ts";
import { arrangeArguments } from "./parsing/arguments.ts";

/** The command line that runs the program: its own name, or as a plugin of kubectl. */
export type CalledAs = "interlock" | "kubectl interlock";

/** Performs the command that an operator typed. Returns the exit status. */
export async function interlock(
  args: readonly string[],
  contexts: Contexts,
  calledAs: CalledAs = "interlock",
): Promise<number> {
  let status = exitStatus("ok");
  const finish = (result: number) => {
    status = result;
  };
  const program = createProgram(contexts, finish, calledAs);
  const [first = "help", ...rest] = arrangeArguments(args);
  if (first === "__complete") {
    return (await import("./completion/complete.ts")).complete(program, args.slice(1), contexts);
  }
  try {
    const parsed =
      first === "help" ? helpArguments(program, rest) : [first === "version" ? "--version" : first, ...rest];
    await program.parseAsync(parsed, { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitStatus("ok");
    throw error;
  }
}

/** `help policy test` as `policy test --help`. An unknown command is left in place, which is an error. */
function helpArguments(program: Command, names: readonly string[]): string[] {
  const path: string[] = [];
  let command = program;
  for (const name of names) {
    if (command.commands.length === 0) break;
    const next = command.commands.find((one) => one.name() === name || one.aliases().includes(name));
    if (!next) return name.startsWith("-") ? ["help"] : [...path, name];
    path.push(name);
    command = next;
  }
  return path.length === 0 ? ["help"] : [...path, "--help"];
}

/** All commands. `finish` receives the exit status of the one that is performed. */
export function createProgram(
  contexts: Contexts,
  finish: (status: number) => void,
  calledAs: CalledAs = "interlock",
): Command {
  const program = new Command(calledAs)
    .version(versionText(), "--version", "print the version")
    // Errors are thrown, and printed in one place.
    .configureOutput({ writeErr: () => {} })
    // The group of the command that follows.
    .commandsGroup("Start:")
    .helpCommand("help [command]", helpSummary)
    // Without arguments and options, which `help COMMAND` prints: the list fits a terminal of 80 columns.
    .configureHelp({ subcommandTerm: (command) => [command.name(), ...command.aliases()].join(", ") })
    .addHelpText("after", `\nType ${calledAs} help COMMAND for its options and an example.`);
  convertErrors(program);

  function setAction<Context>(
    command: Command,
    withContext: WithContext<Context>,
    load: () => Promise<Implementation<Context>>,
  ): Command {
    return command.action(async (...parameters: readonly unknown[]) => {
      const implementation = await load();
      // Behind the arguments are the command's own options, without those of its parent, and the command.
      const [args, options] = [parameters.slice(0, -2), command.optsWithGlobals()];
      const work = async (context: Context) =>
        (await implementation(context, ...([...args, options] as never[]))) ?? exitStatus("ok");
      try {
        finish(checkStatus(await withContext(options, work)));
      } catch (thrown) {
        const error = (await import("./to-command-error.ts")).toCommandError(thrown);
        throw error instanceof MisuseError ? misuse(error.message, command) : error;
      }
    });
  }

  const add = (usage: string, { example, ...about }: CommandHelp, parent = program) =>
    convertErrors(describe(parent.command(usage), { ...about, example: example.replace(/^interlock/, calledAs) }));
  const builder: ProgramBuilder = {
    // Its own help command, in its own group: it would inherit that of the program.
    parentCommand: (usage, about) =>
      add(usage, about).commandsGroup("Commands:").helpCommand("help [command]", helpSummary),
    command: (usage, about, parent) => setAction(add(usage, about, parent), contexts.withCommandContext, about.load),
    serverCommand: (usage, about) =>
      setAction(withContextOptions(add(usage, about)), contexts.withServerContext, about.load),
  };
  declareStart(builder);
  declareInspection(builder);
  declareOperations(builder);
  declareInstallation(builder);
  declareProcesses(builder);
  return program;
}

const helpSummary = "Print the options of a command and an example";

function describe(command: Command, { summary, details, example, group }: CommandHelp): Command {
  const description = details === undefined ? `${summary}.` : `${summary}.\n\n${details}`;
  if (group) command.helpGroup(`${group}:`);
  examples.set(command, example);
  return command.summary(summary).description(description).addHelpText("after", `\nFor example:\n  ${example}`);
}

const examples = new WeakMap<Command, string>();

/** Converts commander's errors to MisuseError. */
function convertErrors(command: Command): Command {
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

/** Scripts rely on the documented statuses. */
function checkStatus(status: number): number {
  if (Object.values(exitStatuses).some((known) => known.status === status)) return status;
  throw new TypeError(`exit status ${status} is not in the table`);
}

function misuse(problem: string, command: Command): MisuseError {
  const names: string[] = [];
  for (let one: Command | null = command; one; one = one.parent) names.unshift(one.name());
  const [program, ...path] = names;
  const example = examples.get(command);
  const help = [program, "help", ...path].join(" ");
  return new MisuseError(`${problem}; see ${help}`, example === undefined ? [] : [`for example: ${example}`]);
}

function withContextOptions(command: Command): Command {
  return withConfig(withServer(withData(command), "DIR/kubeconfig"));
}
