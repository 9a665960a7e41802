import { userInfo } from "node:os";
import { basename } from "node:path";
import { errorLines, exitStatus } from "./command.ts";
import type { CommandContext, ContextOptions, Contexts } from "./context.ts";
import { type CalledAs, interlock } from "./program.ts";

/** Output that cannot be written, as on a full disk, is a failure. It is none if the reader of a pipe is gone, as in `up | head`. */
let outputError: NodeJS.ErrnoException | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") outputError ??= error;
});

// Everything else is imported when it is used: the help needs none of it.
try {
  const contexts: Contexts = {
    withCommandContext: async (options, work) => {
      const context = await openContext(options);
      return work(context).finally(() => context.terminal.progress.clear());
    },
    withServerContext: async (options, work) => {
      const context = await openContext(options);
      // It may follow something without an end, for a reader that has gone.
      process.stdout.on(
        "error",
        ({ code }: NodeJS.ErrnoException) => code === "EPIPE" && process.exit(exitStatus("interrupted")),
      );
      const { withServerContext } = await import("./server-context.ts");
      return withServerContext(options, context, work).finally(() => context.terminal.progress.clear());
    },
  };
  await exit(await interlock(process.argv.slice(2), contexts, calledAs(process.argv[1] ?? "")));
} catch (error) {
  const { linePrinter, toScreen } = await import("./output/terminal.ts");
  errorLines(error).forEach(linePrinter(toScreen(process.stderr, process.env)));
  await exit((await import("./to-command-error.ts")).errorStatus(error));
}

/** kubectl runs a program called kubectl-interlock for `kubectl interlock`. */
function calledAs(path: string): CalledAs {
  return /^kubectl-interlock(\.[cm]?js)?$/.test(basename(path)) ? "kubectl interlock" : "interlock";
}

/** Open connections and servers would keep the process running. A slow reader of a pipe still gets the last lines. */
async function exit(status: number): Promise<never> {
  await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  if (!outputError) process.exit(status);
  process.stderr.write(
    `error: the output cannot be written (${outputError.code}), and is not complete; write it elsewhere\n`,
  );
  process.exit(exitStatus("failed"));
}

async function openContext({ quiet, output }: ContextOptions): Promise<CommandContext> {
  const [{ systemClock, systemRandom }, { printTo, toScreen }, { noProgress, openProgress }] = await Promise.all([
    import("../time/index.ts"),
    import("./output/terminal.ts"),
    import("./output/progress.ts"),
  ]);
  const [clock, random] = [systemClock(), systemRandom()];
  const errors = toScreen(process.stderr, process.env);
  const progress = quiet || isMachineReadable(output) ? noProgress : openProgress(errors, clock);
  async function ask(question: string, signal: AbortSignal) {
    const showAgain = progress.hide();
    return await askAtTerminal(question, signal).finally(showAgain);
  }
  return {
    clock,
    random,
    env: process.env,
    terminal: {
      ...printTo(toScreen(process.stdout, process.env), errors, progress),
      user: userName(),
      ...(process.stdin.isTTY && process.stdout.isTTY ? { ask } : {}),
    },
  };
}

/** The user id of a container may have no name in its image. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}

function isMachineReadable(output = "table"): boolean {
  return output !== "table" && output !== "wide";
}

/** Undefined after Ctrl-C or Ctrl-D. */
async function askAtTerminal(question: string, signal: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stdout, signal });
  // While the question is open, the terminal sends Ctrl-C as a key, not as SIGINT.
  lines.once("SIGINT", () => lines.close());
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  const answer = await Promise.race([lines.question(question), closed]);
  if (answer === undefined) process.stdout.write("\n");
  lines.close();
  return answer;
}
