import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { promMetrics } from "../telemetry/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { CommandError, errorLines } from "./command.ts";
import { commands } from "./commands/index.ts";
import type { CommandContext } from "./context.ts";
import { printTo, type Screen } from "./output/terminal.ts";
import { misuseIn } from "./parsing/misuse.ts";

const random = systemRandom();
const context: CommandContext = {
  clock: systemClock(),
  random,
  metrics: promMetrics(),
  env: process.env,
  flushOutput: () => new Promise((resolve) => process.stdout.write("", () => resolve())),
  terminal: {
    ...printTo(toScreen(process.stdout)),
    id: () =>
      random
        .id()
        .replace(/[^A-Za-z0-9]/g, "")
        .slice(0, 8),
    user: userInfo().username,
    ...(process.stdin.isTTY && process.stdout.isTTY ? { ask: askAtTerminal } : {}),
  },
};

// The reader of a pipe may be gone, as in `interlock up | head`: the process goes on.
process.stdout.on("error", () => {});

const [name = "help", ...args] = process.argv.slice(2);
try {
  process.exitCode = await perform(name, args);
} catch (error) {
  for (const line of errorLines(error)) printTo(toScreen(process.stderr)).print(line);
  // A server that was started would keep the process running.
  process.exit(1);
}

/** The exit status; processes keep running after it is known. */
async function perform(name: string, args: readonly string[]): Promise<number> {
  if (name === "--version" || name === "version") return printVersion();
  const isHelp = (word: string | undefined) => word === "--help" || word === "-h";
  const wantsHelp = name === "help" || isHelp(name) || args.some(isHelp);
  const wanted = name === "help" ? args[0] : isHelp(name) ? undefined : name;
  if (wanted === undefined) return help();
  const command = Object.values(commands)
    .flat()
    .find((one) => one.name === wanted);
  if (!command) throw new CommandError(`unknown command "${wanted}"; see interlock help`);
  if (!wantsHelp) return command.perform(args, context).catch((error) => explainMisuse(error, command));
  console.log(`${command.usage}\n\nFor example:\n\n  ${command.example}`);
  return 0;
}

/** Ctrl-C and Ctrl-D are no answer. */
async function askAtTerminal(question: string, signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, signal });
  // While the question is open, the terminal sends Ctrl-C as a key, not as SIGINT.
  lines.once("SIGINT", () => lines.close());
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  const answer = await Promise.race([lines.question(question), closed]);
  if (answer === undefined) process.stdout.write("\n");
  lines.close();
  return answer;
}

function toScreen(stream: NodeJS.WriteStream): Screen {
  return { write: (text) => void stream.write(text), isTerminal: stream.isTTY === true };
}

function explainMisuse(error: unknown, { name, example }: { readonly name: string; readonly example: string }): never {
  const misuse = misuseIn(error);
  if (misuse === undefined) throw error;
  throw new CommandError(`${misuse}; see interlock help ${name}`, [`for example: ${example}`]);
}

function help(): number {
  console.log("interlock COMMAND [OPTIONS]");
  for (const [heading, list] of Object.entries(commands)) {
    console.log(`\n${heading}`);
    for (const { name, about } of list) console.log(`  ${name.padEnd(13)} ${about}`);
  }
  console.log("\nType interlock help COMMAND for its options and an example, interlock --version for the version.");
  return 0;
}

function printVersion(): number {
  // The bundle is one folder nearer to it than this file is.
  const files = ["../package.json", "../../package.json"].map((path) => new URL(path, import.meta.url));
  const { version } = JSON.parse(readFileSync(files.find(existsSync) ?? "package.json", "utf8"));
  console.log(`interlock ${version}, Node ${process.versions.node}`);
  return 0;
}
