import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { interlockEntry } from "./bundle.ts";

/** What a command printed, and how it ended. */
export interface Said {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** The command line tool from its source, in a process of its own. `program` is what `bundle` made of it, if many are run. */
export function interlock(words: readonly string[], { program }: { readonly program?: string } = {}): Promise<Said> {
  const tool = program ? [program] : ["--import", "tsx", fileURLToPath(interlockEntry)];
  return new Promise((resolve) => {
    execFile(process.execPath, [...tool, ...words], { env: plainEnv }, (error, out, err) => {
      resolve({ status: error ? Number(error.code ?? -1) : 0, out, err });
    });
  });
}

/** Nothing of ours, such as a test runner's hooks, may run in processes of their own. */
export const plainEnv = { PATH: process.env["PATH"] ?? "" };
