import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { dieWithUs } from "../../services/child.ts";

export interface ExecutorPlan {
  /** What `bundle` made of the command line tool. */
  readonly program: string;
  readonly kubeconfigFile: string;
  readonly configFile: string;
  /** What belongs to this process alone. */
  readonly dataDir: string;
  readonly logFile: string;
  readonly mishaps: readonly Mishap[];
}

/** What happens to an executor: at `7`, before its seventh write; at `7+`, right after it; at `create jobs 1`, before that. */
export interface Mishap {
  readonly kind: "dies" | "is paused";
  readonly at: string;
}

/** How a process ended: the signal that killed it, or its exit code. */
export type Exit = NodeJS.Signals | number | null;

/** `interlock executor` as a process of its own. */
export class ExecutorProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Exit>;

  constructor({ program, kubeconfigFile, configFile, dataDir, logFile, mishaps }: ExecutorPlan) {
    const args = ["executor", "--kubeconfig", kubeconfigFile, "--config", configFile, "--data", dataDir];
    // Nothing of ours, such as a test runner's hooks, may run in it.
    const fates = Object.fromEntries(mishaps.map(({ kind, at }) => [variables[kind], at]));
    const env = { PATH: process.env["PATH"] ?? "", ...fates };
    this.#child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"], env });
    const log = createWriteStream(logFile, { flags: "a" });
    this.#child.stdout?.pipe(log, { end: false });
    this.#child.stderr?.pipe(log, { end: false });
    dieWithUs(this.#child);
    this.ended = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => resolve(signal ?? code));
    });
  }

  /** Whether the operating system has stopped it. */
  get isPaused(): boolean {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")")).startsWith(") T");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  /** Asks it to end, as a deployment does. */
  async stop(): Promise<Exit> {
    this.#child.kill("SIGTERM");
    return await this.ended;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}

const variables = { dies: "INTERLOCK_FAIL_AT", "is paused": "INTERLOCK_PAUSE_AT" } as const;
