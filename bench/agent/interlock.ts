import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `interlock ...` as a process of its own. */
export interface Interlock {
  /** What it said before it was ready. */
  readonly said: string;
  /** The processor time that it has taken so far: what it costs, however busy the machine is. */
  cpuMs(): number;
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL("./interlock-worker.js", import.meta.url));

/** Starts a process and waits until it says that it is ready. */
export async function interlock(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  ready: RegExp,
): Promise<Interlock> {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], ...env },
  });
  // A benchmark that is cut short leaves nothing behind.
  const killed = () => void child.kill("SIGKILL");
  process.once("exit", killed);
  child.once("exit", () => process.off("exit", killed));
  return { said: await hear(child, ready), cpuMs: () => cpuMs(child), stop: () => stop(child) };
}

/** Linux counts in hundredths of a second, user and system apart. */
function cpuMs({ pid }: ChildProcess): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields.split(" ").slice(11, 13);
  return 10 * (Number(user) + Number(system));
}

function hear(child: ChildProcess, ready: RegExp): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (data: Buffer) => {
        said += data.toString();
        if (ready.test(said)) resolve(said);
      });
    }
    child.once("exit", (code) => reject(new Error(`interlock ended with ${code}:\n${said}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}
