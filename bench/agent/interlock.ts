import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dieWithUs, end, waitForOutput } from "../../test/services/child.ts";

/** `interlock ...` as a process of its own. */
export interface Interlock {
  /** Its output until it was ready. */
  readonly output: string;
  /** The processor time that it has used so far, however busy the machine is. */
  cpuMs(): number;
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL("./interlock-worker.js", import.meta.url));

/** Starts a process and waits until it prints that it is ready. */
export async function interlock(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  ready: RegExp,
): Promise<Interlock> {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], ...env },
  });
  dieWithUs(child);
  const { input: output } = await waitForOutput(child, ready);
  return { output, cpuMs: () => cpuMs(child), stop: () => end(child, "SIGTERM") };
}

/** Linux counts in hundredths of a second, user and system apart. */
function cpuMs({ pid }: ChildProcess): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields.split(" ").slice(11, 13);
  return 10 * (Number(user) + Number(system));
}
