import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A program that writes, and that its parent kills. */
export class WriterProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #onLine: (line: string) => void = () => {};
  #stderr = "";

  /** `script` is a file beside this one; it gets `plan` as JSON in its first argument. */
  constructor(script: string, plan: object) {
    const program = fileURLToPath(new URL(script, import.meta.url));
    // Nothing of ours, such as a test runner's hooks, may run in it.
    const env = { ...process.env, NODE_OPTIONS: "" };
    const args = ["--import", "tsx", program, JSON.stringify(plan)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"], env });
    child.stderr.on("data", (data) => {
      this.#stderr += data;
    });
    createInterface({ input: child.stdout }).on("line", (line) => this.#onLine(line));
    // After `close` nothing more comes out of the pipe: every answer it gave has been read.
    this.#ended = new Promise((resolve) => child.once("close", () => resolve()));
    this.#child = child;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Lets it begin; `onLine` gets every complete line it prints. */
  start(onLine: (line: string) => void): void {
    this.#onLine = onLine;
    this.#child.stdin?.write("go\n");
  }

  async kill(): Promise<void> {
    const wasAlive = this.#child.kill("SIGKILL");
    await this.#ended;
    if (!wasAlive || this.#stderr) throw new Error(`the writer ended by itself: ${this.#stderr}`);
  }
}
