import { execFile } from "node:child_process";
import { CoordinationError } from "../errors.ts";
import type { Git } from "./git.ts";

// Set inside hooks and the like, they would send git to another repository than the one in `cwd`.
const elsewhere = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_NAMESPACE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_QUARANTINE_PATH",
  "GIT_PREFIX",
];

/** The git on this machine, in `env`. It never asks for a password: credentials come from a helper, ssh, or nowhere. */
export function runGit(env: Readonly<Record<string, string | undefined>>): Git {
  const quiet = { GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  const environment = { ...env, ...Object.fromEntries(elsewhere.map((name) => [name, undefined])), ...quiet };

  return (args, { cwd, input, signal }) =>
    new Promise((resolve, reject) => {
      const options = { cwd, env: environment, maxBuffer: 16 * 1024 * 1024, ...(signal && { signal }) };
      const child = execFile("git", [...args], options, (error, stdout, stderr) => {
        if (signal?.aborted) return reject(signal.reason);
        const code = error ? error.code : 0;
        if (typeof code === "number") return resolve({ code, stdout, stderr: redacted(stderr) });
        // The error itself stays here: its message repeats all that git printed.
        reject(new CoordinationError("unavailable", `git ${args[0]} did not finish: ${error?.signal ?? code}`));
      });
      // A git that ends without reading its input has said why by other means.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    });
}

/** Without what stands before the @ of a URL. */
function redacted(text: string): string {
  return text.replace(/(\w:\/\/)[^/\s@]*(?:@[^/\s@]*)*@/g, "$1***@");
}
