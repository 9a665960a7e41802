import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { dieWithUs, end, hasEnded } from "../services/child.ts";
import { plainEnv } from "../services/interlock.ts";

/** One stage as a process that can be killed, and begins again with what it has on disk. */
export class StageProcess {
  readonly name: string;
  #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #logFile: string;
  #child: ChildProcess | undefined;

  constructor(
    name: string,
    { args, env = {}, logFile }: { args: readonly string[]; env?: Readonly<Record<string, string>>; logFile: string },
  ) {
    this.name = name;
    this.#args = args;
    this.#env = env;
    this.#logFile = logFile;
  }

  start(): void {
    const child = spawn(process.execPath, this.#args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...plainEnv, ...this.#env },
    });
    const log = createWriteStream(this.#logFile, { flags: "a" });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    dieWithUs(child);
    this.#child = child;
  }

  /** The file that it runs. */
  get program(): string | undefined {
    return this.#args[0];
  }

  /** Runs another version of the program from its next start on. */
  upgradeTo(program: string): void {
    this.#args = [program, ...this.#args.slice(1)];
  }

  /** SIGKILL: it has no time to say or save anything. */
  async kill(): Promise<void> {
    if (this.#child) await end(this.#child, "SIGKILL");
  }

  /** Asks it to end, as a deployment does, and waits until it has. */
  async stop(): Promise<void> {
    if (this.#child) await end(this.#child, "SIGTERM");
  }

  /** Stands still for a while, as a machine that swaps does. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get wasKilled(): boolean {
    return this.#child?.signalCode === "SIGKILL";
  }

  get hasEnded(): boolean {
    return this.#child === undefined || hasEnded(this.#child);
  }
}
