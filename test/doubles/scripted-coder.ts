import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** The script of a coder: the steps of the first case that fits its request. Without one it prints a result and changes nothing. */
export interface CoderScript {
  readonly cases: readonly CoderCase[];
}

export interface CoderCase {
  readonly kind?: "review" | "edit";
  /** A pattern for the request as JSON. */
  readonly matches?: string;
  readonly steps: readonly CoderStep[];
}

/** Paths are within the work tree, except those of witnesses, counters and pids. */
export type CoderStep =
  | { readonly do: "write" | "append"; readonly path: string; readonly text: string }
  | { readonly do: "replace"; readonly path: string; readonly from: string; readonly to: string }
  | { readonly do: "rename"; readonly from: string; readonly to: string }
  | { readonly do: "delete"; readonly path: string }
  | { readonly do: "symlink"; readonly path: string; readonly to: string }
  | { readonly do: "chmod"; readonly path: string; readonly mode: string }
  /** A text that does not compress to nothing: 20 MB of it are a patch of 20 MB. */
  | { readonly do: "write-random"; readonly path: string; readonly bytes: number }
  | { readonly do: "commit"; readonly message: string }
  | { readonly do: "hook"; readonly name: string; readonly text: string }
  | { readonly do: "git-config"; readonly name: string; readonly value: string }
  /** Searches its environment and that of its parent, the files of git and all command lines, and prints the matches. */
  | { readonly do: "look-for-secrets"; readonly pattern: string }
  /** Writes down its request, folder, user and environment, a line of JSON for each run. */
  | { readonly do: "echo"; readonly file: string }
  /** Witnesses record begin and end with a time that all processes share, a line of JSON for each. */
  | { readonly do: "sleep"; readonly ms: number; readonly witness?: string }
  | { readonly do: "wait-for-file"; readonly path: string; readonly witness?: string }
  | { readonly do: "hang"; readonly ignoresSignals?: boolean }
  /** A child that outlives it by `ms`; its pid is added to the file `pids`. */
  | {
      readonly do: "fork";
      readonly pids: string;
      readonly ms: number;
      readonly ignoresSignals?: boolean;
      readonly detached?: boolean;
      readonly holdsOutput?: boolean;
    }
  | { readonly do: "memory"; readonly bytes: number }
  /** Exactly this, instead of an answer. */
  | { readonly do: "say" | "complain"; readonly text: string }
  | { readonly do: "flood"; readonly bytes: number; readonly to?: "stdout" | "stderr" }
  | { readonly do: "answer"; readonly value: CoderAnswer }
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "kill"; readonly signal: string }
  | {
      readonly do: "times";
      readonly counter: string;
      readonly first: number;
      readonly steps: readonly CoderStep[];
      readonly otherwise: readonly CoderStep[];
    };

export interface CoderAnswer {
  readonly summary?: string;
  readonly commitMessage?: string;
  readonly findings?: readonly object[];
}

/** A command that runs the scripted coder; its script is written to the folder, which must not be its work tree. */
export async function scriptedCoder(folder: string, script: CoderScript | readonly CoderStep[]): Promise<string[]> {
  const file = join(folder, `agent-${randomUUID()}.json`);
  await writeFile(file, JSON.stringify("cases" in script ? script : { cases: [{ steps: script }] }));
  // Not beside this file: benches run it from where it was compiled to. Tests and benches start at the root.
  return [process.execPath, resolve("test/doubles/scripted-coder.mjs"), file];
}
