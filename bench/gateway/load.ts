import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Load {
  readonly port: number;
  readonly requests: number;
  /** In each request. None: each is a webhook of GitLab about another merge request. */
  readonly alerts: number;
  /** Number of the first of those merge requests. */
  readonly first?: number;
  readonly connections: number;
  /** As fast as it goes unless given. */
  readonly perSecond?: number;
}

export interface Loaded {
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** Senders in a process of their own: what they cost is not the gateway's. */
export class Senders {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL("./load-worker.js", import.meta.url)));

  send(load: Load): Promise<Loaded> {
    this.#child.send(load);
    return new Promise((resolve, reject) => {
      const died = () => reject(new Error("the senders died: see above"));
      this.#child.once("exit", died);
      this.#child.once("message", (message) => {
        this.#child.off("exit", died);
        resolve(message as Loaded);
      });
    });
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
