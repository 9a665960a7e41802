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

/** Waits until it has printed `wanted`. Rejects with everything it printed if it ends before. */
export function waitForOutput(child: ChildProcess, wanted: RegExp): Promise<RegExpExecArray> {
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const found = wanted.exec(output);
      if (found) resolve(found);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code, signal) =>
      reject(new Error(`${child.spawnargs.join(" ")} ended with ${code ?? signal}:\n${output}`)),
    );
  });
}
