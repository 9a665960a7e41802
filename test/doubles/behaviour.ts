import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ContainerStatus } from "../../src/engines/pods.ts";
import { type Clock, sleep } from "../../src/time/index.ts";

/** What one container does, as far as the controllers above it can see. */
export type Behaviour =
  /** Ends by itself, at once or after a while. */
  | { readonly do: "exit"; readonly code?: number; readonly afterMs?: number }
  /** A real process, with the run's parameters in its environment. It is the leader of its own group. */
  | { readonly do: "command"; readonly argv: readonly [string, ...string[]] }
  /** Goes on until it is stopped, and `lingerMs` longer. */
  | { readonly do: "hang"; readonly lingerMs?: number }
  | { readonly do: "oom" }
  | { readonly do: "evict" }
  | { readonly do: "no-image" }
  | { readonly do: "config-error" };

export interface Ending {
  readonly exitCode: number;
  readonly reason: "Completed" | "Error" | "OOMKilled";
  /** Of a pod that has some. */
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface Stage {
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Ask it to stop. It may take a while to do so, as containers may. */
  readonly signal: AbortSignal;
}

/** Does it, and returns how it ended. Resolves only when nothing of it is left. */
export async function perform(behaviour: Behaviour, stage: Stage): Promise<Ending> {
  switch (behaviour.do) {
    case "exit":
      await sleep(stage.clock, behaviour.afterMs ?? 0, stage.signal).catch(() => {});
      return stage.signal.aborted ? ending(143) : ending(behaviour.code ?? 0);
    case "command":
      return ending(await run(behaviour.argv, stage));
    case "hang":
    case "no-image":
    case "config-error":
      if (!stage.signal.aborted) await once(stage.signal, "abort");
      if (behaviour.do === "hang") await sleep(stage.clock, behaviour.lingerMs ?? 0);
      return ending(143);
    case "oom":
      return { exitCode: 137, reason: "OOMKilled" };
    case "evict":
      return ending(137);
  }
}

/** Whether the container is ever made. */
export function begins(behaviour: Behaviour): boolean {
  return behaviour.do !== "no-image" && behaviour.do !== "config-error";
}

function ending(exitCode: number): Ending {
  return { exitCode, reason: exitCode === 0 ? "Completed" : "Error" };
}

async function run([command, ...args]: readonly [string, ...string[]], { env, signal }: Stage): Promise<number> {
  if (signal.aborted) return 143;
  const own = { PATH: process.env["PATH"] ?? "" };
  const child = spawn(command, args, { detached: true, stdio: "ignore", env: { ...own, ...env } });
  const stop = () => killGroup(child);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 137;
  } catch {
    return 127;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function killGroup({ pid }: ChildProcess) {
  try {
    if (pid) process.kill(-pid, "SIGKILL");
  } catch {
    // It ended meanwhile.
  }
}
