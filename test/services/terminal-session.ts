import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dieWithUs } from "./child.ts";
import { plainEnv } from "./interlock.ts";

const ctrlC = "\u0003";

/** A command on a real terminal of its own, which util-linux `script` provides. */
export class TerminalSession {
  readonly #script: ChildProcess;
  #screen = "";

  constructor(program: string, args: readonly string[]) {
    const command = ["exec", process.execPath, program, ...args].map(quoted).join(" ");
    const env = { ...plainEnv, SHELL: "/bin/sh", TERM: "xterm" };
    this.#script = spawn("script", ["-q", "-e", "-c", command, "/dev/null"], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    dieWithUs(this.#script);
    this.#script.stdout?.on("data", (chunk: Buffer) => {
      this.#screen += chunk.toString();
    });
  }

  /** Everything that was printed until now. */
  get screen(): string {
    return this.#screen;
  }

  /** Types something, as it is. */
  type(text: string): void {
    this.#script.stdin?.write(text);
  }

  pressCtrlC(): void {
    this.type(ctrlC);
  }

  /** The exit status of the command. */
  async ended(): Promise<number | null> {
    if (this.#script.exitCode === null) await once(this.#script, "close");
    return this.#script.exitCode;
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
