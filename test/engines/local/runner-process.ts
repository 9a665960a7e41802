import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { bundle } from "../../services/bundle.ts";

export interface RunnerPlan {
  readonly url: string;
  readonly token: string;
  readonly dataDir: string;
  readonly workflowsRoot: string;
  readonly witnessFile: string;
  /** Which of its writes and starts of processes it does not survive. */
  readonly dieAt?: { readonly nth: number; readonly when: "before" | "after" };
}

/** A runner in a process of its own, seen from the one who kills it. */
export class RunnerProcess {
  readonly #child: ChildProcess;
  /** How it ended: the signal that killed it, or its exit code. */
  readonly ended: Promise<string | number | null>;

  /** `program` is what `builtRunner` made. */
  constructor(program: string, plan: RunnerPlan) {
    // Nothing of ours, such as a test runner's hooks, may run in it.
    const env = { ...process.env, NODE_OPTIONS: "" };
    this.#child = spawn(process.execPath, [program, JSON.stringify(plan)], {
      stdio: ["ignore", "ignore", "inherit"],
      env,
    });
    this.ended = new Promise((resolve) => this.#child.once("exit", (code, signal) => resolve(signal ?? code)));
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}

/** The program in one file: it is started often. */
export function builtRunner(directory: string): Promise<string> {
  return bundle(new URL("./runner.ts", import.meta.url), join(directory, "runner.mjs"));
}
