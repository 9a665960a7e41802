import { chmod, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeDurably } from "../disk/index.ts";
import { stepPath } from "../engines/index.ts";

/** The command line of this process. */
export interface StartedAs {
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly script: string;
}

/**
 * The environment in which a step of the local engine finds the command `interlock`: the program of this process, however
 * it was started. Writes the command into `folder`.
 */
export async function commandEnvironment(
  folder: string,
  started: StartedAs = { execPath: process.execPath, execArgv: process.execArgv, script: process.argv[1] ?? "" },
): Promise<Readonly<Record<string, string>>> {
  const command = join(folder, "interlock");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeDurably(command, commandScript(started));
  await chmod(command, 0o700);
  return { PATH: `${resolve(folder)}:${stepPath}` };
}

function commandScript({ execPath, execArgv, script }: StartedAs): string {
  const words = [execPath, ...execArgv, resolve(script)].map(quoteWord);
  return `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`;
}

/** Quotes a text as one word of a shell. */
function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
