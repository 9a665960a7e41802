import { spawn } from "node:child_process";

export class GitFailure extends Error {}

/** Runs git in a bare repository, without user settings, and resolves to its output. */
export function git(directory: string, args: readonly string[], input: Buffer | string = ""): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", ["--git-dir", directory, ...args], { env: gitEnvironment() });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk) => out.push(chunk));
    child.stderr.on("data", (chunk) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(out));
      else reject(new GitFailure(`git ${args[0]}: ${Buffer.concat(err)}`));
    });
    // Git may exit before it has read all of its input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

export function gitEnvironment(): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: "/nonexistent",
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
}
