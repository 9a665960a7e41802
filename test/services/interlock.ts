import { execFile } from "node:child_process";
import { interlockProgram } from "./program.ts";

/** What a command printed, and how it ended. */
export interface Output {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line tool in a process of its own. */
export async function interlock(words: readonly string[]): Promise<Output> {
  const program = await interlockProgram();
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { env: plainEnv }, (error, out, err) => {
      resolve({ status: error ? Number(error.code ?? -1) : 0, out, err });
    });
  });
}

/** Nothing of ours, such as a test runner's hooks, may run in processes of their own. Several consoles run at the same time. */
export const plainEnv = { PATH: process.env["PATH"] ?? "", CONSOLE_LISTEN: "127.0.0.1:0" };
