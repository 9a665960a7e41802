import { expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import type { CodingTask } from "../../resources/index.ts";
import { BusyTasks, busyMs } from "./busy-tasks.ts";
import { Workers } from "./workers.ts";

it("a task is ready until a worker is free, runs, and no longer has work after its attempt", async () => {
  const { workers, finish, ended, stateOf } = startWorkers();

  workers.offer(task("a"));
  workers.offer(task("b"));
  expect([stateOf("a"), stateOf("b")]).toEqual(["running", "ready"]);
  await finish("a");

  expect([stateOf("a"), stateOf("b")]).toEqual(["none", "running"]);
  expect(ended).toEqual(["a"]);
});

it("a withdrawn task does not start when a worker is free", async () => {
  const { workers, finish, stateOf } = startWorkers();
  workers.offer(task("a"));
  workers.offer(task("b"));

  workers.withdraw(task("b"));
  await finish("a");

  expect(stateOf("b")).toBe("none");
});

it("an interrupted task stays interrupted until its attempt has ended", async () => {
  const { workers, finish, stateOf } = startWorkers();
  workers.offer(task("a"));

  workers.interrupt(task("a"), { kind: "cancelled", by: "kim" });
  workers.offer(task("a"));
  expect(stateOf("a")).toBe("interrupted");
  await finish("a");

  expect(stateOf("a")).toBe("none");
});

it("stopped workers accept no task", async () => {
  const { workers, stateOf } = startWorkers();
  await workers.stop();

  workers.offer(task("a"));

  expect(stateOf("a")).toBe("none");
});

it("a task of another replica is busy for a while, or until it is removed", async () => {
  const clock = new ManualClock();
  const busy = new BusyTasks(clock);

  busy.add(task("a"));
  busy.add(task("b"));
  busy.remove(task("b"));
  await clock.advance(busyMs - 1);
  expect([busy.remainingMs(task("a")), busy.remainingMs(task("b"))]).toEqual([1, 0]);
  await clock.advance(1);

  expect(busy.remainingMs(task("a"))).toBe(0);
});

/** One worker, whose attempts last until `finish`. */
function startWorkers() {
  const ended: string[] = [];
  const attempts = new Map<string, () => void>();
  const workers = new Workers({
    size: 1,
    work: ({ metadata: { uid = "" } }) => new Promise((resolve) => attempts.set(uid, resolve)),
    onEnd: ({ metadata: { uid = "" } }) => ended.push(uid),
  });
  const stateOf = (uid: string) => workers.workOn(task(uid)).state;
  const finish = async (uid: string) => {
    attempts.get(uid)?.();
    await expect.poll(() => stateOf(uid)).toBe("none");
  };
  return { workers, ended, finish, stateOf };
}

function task(uid: string): CodingTask {
  return {
    metadata: { name: uid, uid, creationTimestamp: "2026-11-15T12:00:00.000Z" },
    spec: { type: "Review", project: { host: "gitlab.example.com", id: 42 }, receivedTime: "" },
  } as unknown as CodingTask;
}
