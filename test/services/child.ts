import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A test run that is cut short leaves no processes behind. */
export function dieWithUs(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
  const kill = () => void child.kill(signal);
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Sends it `signal`, and waits until it has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

/** Waits until it has said `wanted`. Rejects with everything it said if it ends before. */
export function heard(child: ChildProcess, wanted: RegExp): Promise<RegExpExecArray> {
  let said = "";
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const found = wanted.exec(said);
      if (found) resolve(found);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", (code, signal) =>
      reject(new Error(`${child.spawnargs.join(" ")} ended with ${code ?? signal}:\n${said}`)),
    );
  });
}
