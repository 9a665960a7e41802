import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { GitLabCalls } from "./gitlab-worker.ts";

/** GitLab in a process of its own. It is asked one thing at a time. */
export class GitLabProcess {
  readonly #child = fork(fileURLToPath(new URL("./gitlab-worker.js", import.meta.url)));

  ask<Name extends keyof GitLabCalls>(
    name: Name,
    ...args: Parameters<GitLabCalls[Name]>
  ): Promise<Awaited<ReturnType<GitLabCalls[Name]>>> {
    this.#child.send({ name, args });
    return new Promise((resolve, reject) => {
      const died = () => reject(new Error("GitLab's double died: see above"));
      this.#child.once("exit", died);
      this.#child.once("message", ({ value }: { value: never }) => {
        this.#child.off("exit", died);
        resolve(value);
      });
    });
  }

  async close(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    await exited;
  }
}
