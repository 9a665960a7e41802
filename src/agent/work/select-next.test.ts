import { describe, expect, it } from "vitest";
import type { CodingTask } from "../../resources/index.ts";
import { selectNext } from "./workers.ts";

describe("the next task", () => {
  it("is the earliest one", () => {
    expect(selectNext([task("later", 1, 20), task("first", 1, 10)], [])?.metadata.uid).toBe("first");
  });

  it("is one of the project with the fewest running tasks, even if it came later", () => {
    const running = [task("r1", 1, 1), task("r2", 1, 2), task("r3", 2, 3)];

    expect(selectNext([task("busy", 1, 10), task("quiet", 3, 30), task("other", 2, 20)], running)?.metadata.uid).toBe(
      "quiet",
    );
  });

  it("is undefined if no task waits", () => {
    expect(selectNext([], [task("r1", 1, 1)])).toBeUndefined();
  });
});

function task(uid: string, project: number, second: number): CodingTask {
  const creationTimestamp = new Date(second * 1_000).toISOString();
  const spec = { type: "Review", project: { host: "h", id: project, path: "p" }, receivedTime: creationTimestamp };
  return { metadata: { uid, creationTimestamp }, spec } as unknown as CodingTask;
}
