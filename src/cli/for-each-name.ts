import { CommandError, errorLines, exitStatus, type ServerContext } from "./command.ts";
import { toCommandError } from "./to-command-error.ts";

/**
 * Has `work` done for each name, one after the other. One that fails does not keep the others from their turn: its error is
 * printed, and the exit status shows it. The error of a single name is thrown as it is.
 */
export async function forEachName(
  names: readonly string[],
  { terminal }: Pick<ServerContext, "terminal">,
  work: (name: string) => Promise<void>,
): Promise<number> {
  let failed = 0;
  for (const name of names) {
    try {
      await work(name);
    } catch (thrown) {
      const error = toCommandError(thrown);
      // Any other error, such as a server that does not answer, would meet the remaining names as well.
      if (names.length === 1 || !(error instanceof CommandError)) throw error;
      failed++;
      errorLines(error).forEach(terminal.printError);
    }
  }
  return exitStatus(failed === 0 ? "ok" : "failed");
}
