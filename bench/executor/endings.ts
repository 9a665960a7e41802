import { informer } from "../../src/kube/index.ts";
import { type WorkflowExecution, workflowExecutions } from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { clock, type Workbench } from "./workbench.ts";

/** Resolves when executions have ended: `Completed` or `Skipped`, and when their target is free. */
export class Endings {
  readonly #waiting = new Map<string, (at: number) => void>();
  readonly #isReached: (execution: WorkflowExecution) => boolean;
  readonly #stop = new AbortController();

  constructor({ client }: Workbench, isReached: (execution: WorkflowExecution) => boolean) {
    this.#isReached = isReached;
    const follow = { client, clock, random: systemRandom(), signal: this.#stop.signal, problem: () => {} };
    informer({ ...follow, type: workflowExecutions }).subscribe((_event, execution) => {
      if (!this.#isReached(execution)) return;
      const name = execution.metadata.name ?? "";
      this.#waiting.get(name)?.(clock.now());
      this.#waiting.delete(name);
    });
  }

  /** When it happened to `name`. Ask before creating it. */
  of(name: string): Promise<number> {
    return new Promise((resolve) => this.#waiting.set(name, resolve));
  }

  stop(): void {
    this.#stop.abort();
  }
}

export function hasEnded({ status }: WorkflowExecution): boolean {
  return status?.phase === "Completed" || status?.phase === "Skipped" || status?.phase === "Failed";
}

export function hasFreed({ status }: WorkflowExecution): boolean {
  return status?.conditions?.some(({ type }) => type === "TargetFreed") ?? false;
}
