import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type KubeClient, type KubeObject, refOf } from "../kube/index.ts";
import { classifyFailure } from "../resources/index.ts";
import type { Engine, RunFailure, RunOrder, RunState } from "./engine.ts";
import { runOwner } from "./run-marks.ts";

/** An engine at work: whatever carries out its runs is running too. */
export interface EngineBench {
  readonly engine: Engine;
  readonly client: KubeClient;
  /** True: whatever carries out its runs writes nothing to one that is suspended. */
  readonly leavesSuspendedAlone?: boolean;
  /** An order for a run that does `what`, under a name of its own. */
  order(what: Deed, special?: Partial<RunOrder>): RunOrder;
  /** What the steps themselves wrote down, in order: one entry each time that one began. */
  witnessed(): Promise<readonly Witnessed[]>;
  close(): Promise<void>;
}

/**
 * - `succeed`, `fail`: a step begins, writes it down, and exits with 0 or 3
 * - `hang`: a step begins, writes it down, and goes on for longer than any test
 * - `never-begin`: what the workflow is made of is not there
 */
export type Deed = "succeed" | "fail" | "hang" | "never-begin";

/** What a step knows of its run, from its environment or parameters. */
export interface Witnessed {
  readonly executionUid: string;
  readonly target: string;
  readonly fence: string;
  readonly pid: number;
}

/** What every engine does. Nothing here waits for a length of time: it waits for runs to change. */
export function engineContract(name: string, open: () => Promise<EngineBench>): void {
  describe(`engine: ${name}`, () => {
    let bench: EngineBench;

    beforeEach(async () => {
      bench = await open();
    });

    afterEach(async () => {
      await bench.close();
    });

    describe("a new run", () => {
      it("is suspended, and has annotations with its owner, its target and its fence", async () => {
        const order = bench.order("succeed");

        const run = await create(order);

        expect(bench.engine.stateOf(run)).toEqual({ kind: "suspended" });
        expect(runOwner(run)).toEqual({ executionUid: order.execution.uid, target: order.target, fence: order.fence });
        expect(run.metadata).toMatchObject({ name: order.name, namespace: order.namespace });
        expect(run.metadata.labels).toMatchObject({
          "kubernaut.ai/engine": bench.engine.name,
          "kubernaut.ai/target-hash": order.targetHash,
          "kubernaut.ai/workflow-id": order.workflow.id,
        });
      });

      it("runs no step while it is suspended", async () => {
        const waiting = await create(bench.order("succeed"));

        const other = bench.order("succeed");
        await ended(await started(await create(other)));

        expect(bench.engine.stateOf(await read(waiting))).toEqual({ kind: "suspended" });
        expect((await bench.witnessed()).map(({ executionUid }) => executionUid)).toEqual([other.execution.uid]);
      });
    });

    describe("starting", () => {
      it("runs it once, with execution, target and fence as inputs", async () => {
        const order = bench.order("succeed");

        const state = await ended(await started(await create(order)));

        expect(state).toMatchObject({ kind: "succeeded", completedAt: expect.stringMatching(/^2\d{3}-/) });
        expect(await bench.witnessed()).toEqual([
          { executionUid: order.execution.uid, target: order.target, fence: order.fence, pid: expect.any(Number) },
        ]);
      });

      it("ends with all of its tasks done", async () => {
        const { progress } = (await ended(await started(await create(bench.order("succeed"))))) as Ended;

        expect(progress.totalTasks).toBeGreaterThan(0);
        expect(progress.completedTasks).toBe(progress.totalTasks);
        expect(progress.startedAt).toMatch(/^2\d{3}-/);
      });

      it("is a conflict the second time", async () => {
        const suspended = await seen(await create(bench.order("succeed")));
        const run = await started(suspended);

        const again = await apply(suspended, bench.engine.start(suspended));
        await ended(run);

        expect(again.kind).toBe("conflict");
        expect(await bench.witnessed()).toHaveLength(1);
      });

      it("is a conflict for a run that was changed since it was read", async () => {
        const suspended = await seen(await create(bench.order("succeed")));
        await apply(suspended, { merge: { metadata: { annotations: { "example.com/changed": "yes" } } } });

        expect((await apply(suspended, bench.engine.start(suspended))).kind).toBe("conflict");
        expect(bench.engine.stateOf(await read(suspended))).toEqual({ kind: "suspended" });
      });

      it("is a conflict for a run that replaced the one that was read", async () => {
        const order = bench.order("succeed");
        const first = await seen(await create(order));
        await remove(first);
        const second = await create({ ...order, execution: { ...order.execution, uid: "another" } });

        const outcome = await apply(first, bench.engine.start(first));

        expect(outcome.kind).toBe("conflict");
        expect(bench.engine.stateOf(await read(second))).toEqual({ kind: "suspended" });
      });
    });

    describe("failing", () => {
      it("reports the failed step, its exit code, and that something may have changed", async () => {
        const run = await started(await create(bench.order("fail")));

        expect((await ended(run)).kind).toBe("failed");
        const failure = await readFailure(run);
        expect(failure).toMatchObject({ reason: "TaskRunFailed", exitCode: 3, anythingStarted: true });
        expect(failure.failedStepName).not.toBe("");
        expect(failure.message).not.toBe("");
        expect(failure).not.toHaveProperty("unfinished");
      });

      it("before the first step allows a retry", async () => {
        const order = bench.order("never-begin", { timeoutMs: 1_000 });

        const failure = await neverBegun(order);

        expect(classifyFailure(failure.reason, failure).wasExecutionFailure).toBe(false);
        expect(failure.message).not.toBe("");
        expect(await bench.witnessed()).toEqual([]);
      });

      it("by a timeout ends the run and all of its processes", async () => {
        const run = await started(await create(bench.order("hang", { timeoutMs: 1_000 })));

        expect((await ended(run)).kind).toBe("failed");
        expect(await readFailure(run)).toMatchObject({ reason: "Timeout", anythingStarted: true });
        await nothingLeft(run);
      });
    });

    describe("cancelling", () => {
      it("ends a suspended run, which then cannot be started any more", async () => {
        const suspended = await seen(await create(bench.order("succeed")));

        await cancel(suspended);

        expect((await ended(suspended)).kind).toBe("failed");
        expect(await readFailure(suspended)).toMatchObject({ reason: "Cancelled", anythingStarted: false });
        expect((await apply(suspended, bench.engine.start(suspended))).kind).toBe("conflict");
        expect(await bench.witnessed()).toEqual([]);
      });

      it("ends a running run and all of its processes", async () => {
        const run = await started(await create(bench.order("hang")));
        await begun(run);

        await cancel(run);

        expect((await ended(run)).kind).toBe("failed");
        expect(await readFailure(run)).toMatchObject({ reason: "Cancelled", anythingStarted: true });
        await nothingLeft(run);
      });

      it("is safe to repeat", async () => {
        const run = await started(await create(bench.order("hang")));
        await begun(run);

        await cancel(run);
        await cancel(run);

        expect((await ended(run)).kind).toBe("failed");
        expect((await readFailure(run)).reason).toBe("Cancelled");
        await nothingLeft(run);
      });

      it("is a conflict for a run that has ended since it was read, and does not change its end", async () => {
        const order = bench.order("succeed");
        const run = await started(await create(order));
        await ended(run);

        const outcome = await apply(run, bench.engine.cancel(run));

        expect(outcome.kind).toBe("conflict");
        expect(bench.engine.stateOf(await read(run)).kind).toBe("succeeded");
      });
    });

    async function create(order: RunOrder): Promise<KubeObject> {
      const prepared = await bench.engine.prepare(order);
      if (prepared.kind === "refused") throw new Error(`${prepared.reason}: ${prepared.message}`);
      const outcome = await bench.client.create(bench.engine.runs, prepared.run);
      if (outcome.kind !== "created") throw new Error(`${order.name} is already there`);
      return outcome.object;
    }

    async function read(run: KubeObject): Promise<KubeObject> {
      const found = await bench.client.get(bench.engine.runs, refOf(run));
      if (!found) throw new Error(`${run.metadata.name} is gone`);
      return found;
    }

    /** The run once its controller has left it alone, so that a version is not old for reasons of no interest. */
    async function seen(run: KubeObject): Promise<KubeObject> {
      if (bench.leavesSuspendedAlone) return run;
      return await untilRun(run, (found) => found.metadata.resourceVersion !== run.metadata.resourceVersion);
    }

    function apply(run: KubeObject, patch: ReturnType<Engine["start"]>) {
      return bench.client.patch(bench.engine.runs, refOf(run), patch);
    }

    /** Started for sure: a controller may write between the read and the start, and then it has to be read again. */
    async function started(run: KubeObject): Promise<KubeObject> {
      for (;;) {
        const found = await read(run);
        const outcome = await apply(found, bench.engine.start(found));
        if (outcome.kind === "updated") return outcome.object;
      }
    }

    async function cancel(run: KubeObject) {
      for (;;) {
        const found = await read(run);
        if ((await apply(found, bench.engine.cancel(found))).kind === "updated") return;
        if (bench.engine.stateOf(await read(run)).kind === "failed") return;
      }
    }

    async function remove(run: KubeObject) {
      const { uid = "" } = run.metadata;
      await bench.client.delete(bench.engine.runs, refOf(run), { preconditions: { uid }, propagation: "Foreground" });
      await untilGone(run);
    }

    async function ended(run: KubeObject): Promise<RunState> {
      const isOver = (found: KubeObject) => ["succeeded", "failed"].includes(bench.engine.stateOf(found).kind);
      return bench.engine.stateOf(await untilRun(run, isOver));
    }

    async function readFailure(run: KubeObject): Promise<RunFailure> {
      return await bench.engine.readFailure(await read(run));
    }

    async function neverBegun(order: RunOrder): Promise<RunFailure> {
      const prepared = await bench.engine.prepare(order);
      if (prepared.kind === "refused") return { ...prepared, anythingStarted: false };
      const run = await started(await create(order));
      await ended(run);
      return await readFailure(run);
    }

    async function begun(run: KubeObject) {
      const { executionUid } = runOwner(run);
      await until(async () => (await bench.witnessed()).some((entry) => entry.executionUid === executionUid));
    }

    /** No process is left once the engine reports the end. */
    async function nothingLeft(run: KubeObject) {
      await until(async () => (await readFailure(run)).unfinished === undefined);
      for (const { pid } of await bench.witnessed()) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    }

    async function untilRun(run: KubeObject, isTrue: (found: KubeObject) => boolean): Promise<KubeObject> {
      let found = await read(run);
      await until(async () => {
        found = await read(run);
        return isTrue(found);
      });
      return found;
    }

    async function untilGone(run: KubeObject) {
      await until(async () => (await bench.client.get(bench.engine.runs, refOf(run))) === undefined);
    }
  });
}

type Ended = Extract<RunState, { kind: "succeeded" | "failed" }>;

/** Looks again and again until it is true; the test's own limit ends it otherwise. */
async function until(isTrue: () => Promise<boolean>) {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5));
}
