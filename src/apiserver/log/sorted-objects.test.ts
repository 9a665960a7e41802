import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SortedObjects } from "./sorted-objects.ts";
import { StoredObject } from "./stored-object.ts";

describe("sorted objects", () => {
  it("equal a sorted list of the same objects, after any changes and for any namespace", () => {
    fc.assert(
      fc.property(fc.array(step(), { maxLength: 2_000, size: "max" }), (steps) => {
        const sorted = new SortedObjects();
        const model = new Map<string, StoredObject>();
        for (const { namespace, name, isDelete } of steps) {
          const object = new StoredObject({ resource: "things", namespace, name }, 1, "{}", JSON.parse);
          if (isDelete) sorted.delete(namespace, name);
          else sorted.set(object);
          if (isDelete) model.delete(`${namespace}\u0000${name}`);
          else model.set(`${namespace}\u0000${name}`, object);
        }

        const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
        expect([...sorted.all()]).toEqual(expected);
        expect(stepByStep(sorted)).toEqual(expected);
        for (const namespace of namespaces) {
          expect([...sorted.in(namespace)]).toEqual(expected.filter(({ key }) => key.namespace === namespace));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("can be read repeatedly, as they were at the time of the call", () => {
    const sorted = new SortedObjects();
    for (let i = 0; i < 1_000; i++) sorted.set(object(i));
    const all = sorted.all();
    const some = sorted.in("a");

    for (let i = 0; i < 1_000; i += 2) sorted.delete("a", object(i).key.name);
    for (let i = 1_000; i < 1_500; i++) sorted.set(object(i));

    for (const view of [all, some, all]) expect([...view].map(({ key }) => key.name)).toEqual(numbered(0, 1_000));
  });
});

function stepByStep(sorted: SortedObjects): StoredObject[] {
  const found: StoredObject[] = [];
  for (let some = sorted.listAfter(undefined); some.length > 0; some = sorted.listAfter(some.at(-1)?.key)) {
    found.push(...some);
  }
  return found;
}

const namespaces = ["", "a", "a-b", "ab", "b"];

function step() {
  return fc.record({
    namespace: fc.constantFrom(...namespaces),
    name: fc.integer({ min: 0, max: 700 }).map(String),
    isDelete: fc.boolean(),
  });
}

function object(i: number): StoredObject {
  return new StoredObject({ resource: "things", namespace: "a", name: nameOf(i) }, 1, "{}", JSON.parse);
}

function nameOf(i: number): string {
  return String(i).padStart(6, "0");
}

function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => nameOf(from + i));
}
