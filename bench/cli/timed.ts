import { spawn, spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";

/** A command with its arguments. */
export type Line = readonly [command: string, ...args: string[]];

/** How long a command takes until it has ended. Throws with its output if it fails. */
export function timeCommand([command, ...args]: Line, cwd: string): number {
  const begun = performance.now();
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - begun;
}

/** How long a server takes until its output has `ready`, and what ends it. */
export async function timeStart([command, ...args]: Line, cwd: string, ready: string) {
  const begun = performance.now();
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const readyMs = await new Promise<number>((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(ready)) resolve(performance.now() - begun);
    });
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${output}`)));
  });
  return {
    readyMs,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
