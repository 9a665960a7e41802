import { describe, expect, it } from "vitest";
import { layoutGraph } from "./graph.ts";

describe("the graph of an execution", () => {
  it("has each task to the right of its dependencies", () => {
    const { tasks } = layoutGraph([task("d", ["b", "c"]), task("a"), task("b", ["a"]), task("c", ["a"])]);
    const columns = [...new Set(tasks.map(({ x }) => x))].sort((a, b) => a - b);

    expect(Object.fromEntries(tasks.map(({ task, x }) => [task.name, columns.indexOf(x)]))).toEqual({
      a: 0,
      b: 1,
      c: 1,
      d: 2,
    });
  });

  it("places tasks of a column below one another, with room for their steps", () => {
    const { tasks } = layoutGraph([task("a", [], 3), task("b")]);
    const [a, b] = tasks;

    expect(b?.y).toBeGreaterThan((a?.y ?? 0) + (a?.height ?? 0));
    expect(a?.height).toBeGreaterThan(b?.height ?? 0);
  });

  it("draws one edge for each dependency, and none to a task that does not exist", () => {
    const { edges } = layoutGraph([task("a"), task("b", ["a", "gone"])]);

    expect(edges.map(({ from, to }) => `${from} ${to}`)).toEqual(["a b"]);
  });

  it("ends for a cycle, and is empty without tasks", () => {
    expect(layoutGraph([task("a", ["b"]), task("b", ["a"])]).tasks).toHaveLength(2);
    expect(layoutGraph([])).toEqual({ tasks: [], edges: [], width: 0, height: 0 });
  });

  it("takes no exponential time for many tasks with shared dependencies", () => {
    const layers = Array.from({ length: 40 }, (_, layer) =>
      [0, 1].map((n) => task(`${layer}-${n}`, layer === 0 ? [] : [`${layer - 1}-0`, `${layer - 1}-1`])),
    );

    expect(layoutGraph(layers.flat().reverse()).tasks).toHaveLength(80);
  });
});

function task(name: string, after: readonly string[] = [], steps = 0) {
  return { name, after, steps: Array.from({ length: steps }) };
}
