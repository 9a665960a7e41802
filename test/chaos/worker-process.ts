import { type ChildProcess, spawn } from "node:child_process";
import type { TcpProxy } from "../services/tcp-proxy.ts";
import type { Backend } from "./locks-under-test.ts";
import type { Plan } from "./worker.ts";

/** How a process ended, and what it complained about. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** A worker, seen from the driver. */
export class WorkerProcess {
  readonly plan: Plan;
  /** What stands between it and the server. */
  readonly proxy: TcpProxy;
  readonly ended: Promise<End>;
  readonly #child: ChildProcess;
  #end: End | undefined;

  constructor(
    program: string,
    plan: Plan,
    { backend, url, proxy }: { backend: Backend; url: string; proxy: TcpProxy },
  ) {
    this.plan = plan;
    this.proxy = proxy;
    const args = ["--backend", backend, "--url", url, "--plan", JSON.stringify(plan)];
    // Nothing of ours, such as a test runner's hooks, may run in it.
    const env = { ...process.env, NODE_OPTIONS: "" };
    this.#child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "pipe"], env });
    let stderr = "";
    this.#child.stderr?.on("data", (data) => {
      stderr += data;
    });
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#end = { code, signal, stderr };
        resolve(this.#end);
      });
    });
  }

  get name(): string {
    return this.plan.worker;
  }

  get alive(): boolean {
    return this.#end === undefined;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
