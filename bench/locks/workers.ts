import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Answer, Message, Request } from "./worker-messages.ts";

/** A process that wants the same lock as the others. */
export class WorkerProcess {
  readonly index: number;
  readonly #child: ChildProcess;
  /** Called when it has got the lock. */
  acquired: () => void = () => {};
  #answered: (answer: Answer) => void = () => {};
  #rejected: (error: Error) => void = () => {};
  #failure: Error | undefined;

  constructor(index: number) {
    this.index = index;
    this.#child = fork(fileURLToPath(new URL("./worker.js", import.meta.url)), [], { serialization: "advanced" });
    this.#child.on("message", (message: Message) => this.#receive(message));
    this.#child.on("exit", (code) => {
      if (code) this.#fail(`ended with code ${code}`);
    });
  }

  send(request: Request): void {
    this.#child.send(request);
  }

  /** One question at a time. */
  async ask<K extends Answer["kind"]>(request: Request, kind: K): Promise<Extract<Answer, { kind: K }>> {
    const answer = await new Promise<Answer>((resolve, reject) => {
      this.#answered = resolve;
      this.#rejected = reject;
      if (this.#failure) reject(this.#failure);
      else this.send(request);
    });
    if (answer.kind !== kind) throw new Error(`worker ${this.index} answered ${answer.kind} to ${request.do}`);
    return answer as Extract<Answer, { kind: K }>;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    await exited;
  }

  #receive(message: Message) {
    switch (message.kind) {
      case "acquired":
        return this.acquired();
      case "failed":
        return this.#fail(message.message);
      case "done":
      case "turns":
      case "waited":
        return this.#answered(message);
    }
  }

  /** Rejects all pending and later requests. */
  #fail(message: string) {
    this.#failure = new Error(`worker ${this.index}: ${message}`);
    this.#rejected(this.#failure);
  }
}

export async function openEverywhere(workers: readonly WorkerProcess[], contender: string, url: string): Promise<void> {
  await Promise.all(workers.map((worker) => worker.ask({ do: "open", contender, url }, "done")));
}
