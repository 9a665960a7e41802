import { spawn } from "node:child_process";
import { stat, writeFile } from "node:fs/promises";
import { hasLockHolders, lockFile, signalLockHolders, underLock } from "../../../process/index.ts";
import type { Launch, Processes } from "./processes.ts";
import { wrapperScript } from "./wrapper.ts";

/** Processes of this machine. They are found through /proc, so it has to be Linux. */
export function systemProcesses(): Processes {
  return { start, isAlive: hasLockHolders, signal: signalLockHolders };
}

async function start(launch: Launch, abandon?: AbortSignal): Promise<string | undefined> {
  const { folder, argv, env, workingDir, outputBytes } = launch;
  const isThere = (await stat(workingDir).catch(() => undefined))?.isDirectory();
  if (!isThere) return `its working directory ${workingDir} does not exist`;
  // Created before flock runs, because `isAlive` needs the file.
  await writeFile(lockFile(folder), "", { flag: "a", mode: 0o600 });
  const wrapper = ["/bin/sh", "-c", wrapperScript, folder, String(outputBytes), ...argv];
  const [program = "", ...args] = underLock(folder, wrapper);
  try {
    // In its own session and process group: a Ctrl-C for this process must not end the step.
    const child = spawn(program, args, { cwd: workingDir, env, detached: true, stdio: "ignore" });
    const unref = () => child.unref();
    abandon?.addEventListener("abort", unref, { once: true });
    const problem = await new Promise<string | undefined>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, name) => resolve(code === 0 ? undefined : `its wrapper ended with ${code ?? name}`));
    });
    abandon?.removeEventListener("abort", unref);
    return problem;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The message of this error contains the value, which may be secret.
    return code === "ERR_INVALID_ARG_VALUE" ? "an argument or a variable contains the character NUL" : message;
  }
}
