import { CommandError, errorLines, exitStatus, type ServerContext } from "./command.ts";
import { toCommandError } from "./to-command-error.ts";

/**
 * Calls `work` for each name in turn. If it fails for one of several names, the error is printed, the remaining names follow,
 * and the exit status is that of a failure. The error of a single name is thrown.
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
      // Any other error, such as a server that does not answer, would occur for the remaining names as well.
      if (names.length === 1 || !(error instanceof CommandError)) throw error;
      failed++;
      errorLines(error).forEach(terminal.printError);
    }
  }
  return exitStatus(failed === 0 ? "ok" : "failed");
}
