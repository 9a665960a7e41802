import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Change, Entry, ObjectKey, ObjectStore, WriteDecision } from "./object-store.ts";

/** What every `ObjectStore` promises. What happens on a restart, and to a broken disk, is tested with the log store. */
export function objectStoreContract(name: string, open: () => ObjectStore | Promise<ObjectStore>): void {
  describe(`${name}: an object store`, () => {
    let store: ObjectStore;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(() => store.close());

    describe("reading", () => {
      it("returns nothing for a key that was not written", () => {
        expect(store.get("pods", "a", "x")).toBeUndefined();
        expect(names(store.list("pods"))).toEqual([]);
      });

      it("returns the written object and text at their revision", async () => {
        const revision = await put(pod("a", "x"), { size: 1 });

        const entry = store.get("pods", "a", "x") as Entry;

        expect(entry.revision).toBe(revision);
        expect(entry.object).toMatchObject({ metadata: { name: "x", resourceVersion: String(revision) }, size: 1 });
        expect(JSON.parse(entry.json)).toEqual(entry.object);
        expect(store.get("pods", "a", "x")?.object).toBe(entry.object);
      });

      it("keeps resources, namespaces and names apart", async () => {
        await put(pod("a", "x"));
        await put({ resource: "pods.metrics", namespace: "a", name: "x" });
        await put({ resource: "nodes", namespace: "", name: "x" });

        expect(store.get("pods", "", "x")).toBeUndefined();
        expect(store.get("pods", "b", "x")).toBeUndefined();
        expect(names(store.list("pods"))).toEqual(["x"]);
        expect(names(store.list("nodes", ""))).toEqual(["x"]);
        expect(store.get("pods.metrics", "a", "x")?.revision).toBeGreaterThan(
          store.get("pods", "a", "x")?.revision ?? 0,
        );
      });

      it("lists by namespace and name, regardless of the order of writes", async () => {
        for (const key of [pod("b", "x"), pod("a-b", "y"), pod("a", "z"), pod("a", "y-1"), pod("a", "y")])
          await put(key);

        const listed = [...store.list("pods")].map(
          ({ object }) => `${object.metadata.namespace}/${object.metadata.name}`,
        );

        expect(listed).toEqual(["a/y", "a/y-1", "a/z", "a-b/y", "b/x"]);
      });

      it("lists one namespace", async () => {
        for (const key of [pod("b", "x"), pod("a", "z"), pod("a", "y"), pod("ab", "v")]) await put(key);

        expect(names(store.list("pods", "a"))).toEqual(["y", "z"]);
        expect(names(store.list("pods", "c"))).toEqual([]);
      });

      it("lists one moment: changes during the iteration are not visible", async () => {
        for (const name of ["a", "b", "c"]) await put(pod("a", name), { size: 1 });

        const listed = store.list("pods");
        await put(pod("a", "b"), { size: 2 });
        await remove(pod("a", "c"));
        await put(pod("a", "aa"));

        expect([...listed].map(({ object }) => object)).toMatchObject([{ size: 1 }, { size: 1 }, { size: 1 }]);
        expect(names(store.list("pods"))).toEqual(["a", "aa", "b"]);
      });
    });

    describe("writing", () => {
      it("calls the decision at once", async () => {
        let asked = false;
        const written = store.write(pod("a", "x"), () => {
          asked = true;
          return { do: "nothing", result: "fine" };
        });

        expect(asked).toBe(true);
        expect(await written).toBe("fine");
      });

      it("shows the change when the write resolves", async () => {
        const revision = await put(pod("a", "x"));

        expect(store.revision).toBe(revision);
        expect(store.get("pods", "a", "x")?.revision).toBe(revision);
      });

      it("gives each change a higher revision than any change before", async () => {
        const revisions = await Promise.all([put(pod("a", "x")), put(pod("a", "y")), put(pod("a", "x"))]);
        revisions.push(await remove(pod("a", "x")), await put(pod("b", "z")));

        expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
        expect(store.revision).toBe(revisions.at(-1));
      });

      it("passes each decision the result of the previous one, durable or not", async () => {
        const seen: (number | undefined)[] = [];
        const add = () =>
          store.write(pod("a", "x"), (current, revision) => {
            seen.push(sizeOf(current));
            return change("put", pod("a", "x"), revision, { size: (sizeOf(current) ?? 0) + 1 });
          });

        await Promise.all([add(), add(), add()]);

        expect(seen).toEqual([undefined, 1, 2]);
        expect(sizeOf(store.get("pods", "a", "x"))).toBe(3);
      });

      it("passes a decision the deletion of its object, and lets it create another", async () => {
        await put(pod("a", "x"), { size: 1 });

        const [, current] = await Promise.all([
          remove(pod("a", "x")),
          seenBy(pod("a", "x")),
          put(pod("a", "x"), { size: 2 }),
        ]);

        expect(current).toBeUndefined();
        expect(sizeOf(store.get("pods", "a", "x"))).toBe(2);
      });

      it("changes nothing, and uses no revision, when the decision is to do nothing", async () => {
        const before = await put(pod("a", "x"));

        expect(await seenBy(pod("a", "x"))).toBe(store.get("pods", "a", "x"));

        expect(store.revision).toBe(before);
        expect(await put(pod("a", "x"))).toBe(before + 1);
      });

      it("rejects with the error of the decision, and changes nothing", async () => {
        const before = store.revision;
        const refusal = new Error("not like this");

        const written = store.write(pod("a", "x"), () => {
          throw refusal;
        });

        await expect(written).rejects.toBe(refusal);
        expect(store.get("pods", "a", "x")).toBeUndefined();
        expect(store.revision).toBe(before);
      });

      it("removes a deleted object and gives the deletion a revision", async () => {
        const created = await put(pod("a", "x"));

        const removed = await remove(pod("a", "x"));

        expect(removed).toBeGreaterThan(created);
        expect(store.get("pods", "a", "x")).toBeUndefined();
        expect(names(store.list("pods"))).toEqual([]);
        expect(store.revision).toBe(removed);
      });

      it("is unavailable once closed", async () => {
        await store.close();

        await expect(put(pod("a", "x"))).rejects.toMatchObject({ name: "KubeError", code: "unavailable" });
      });
    });

    describe("watching", () => {
      it("delivers every change of its resource, in order, each once", async () => {
        const { changes } = watch("pods", store.revision);

        await Promise.all([put(pod("a", "x"), { size: 1 }), put({ resource: "nodes", namespace: "", name: "n" })]);
        await Promise.all([put(pod("a", "x"), { size: 2 }), put(pod("b", "y")), remove(pod("a", "x"))]);

        expect(changes.map(toText)).toEqual(["put a/x", "put a/x", "put b/y", "delete a/x"]);
        expect(changes.map(({ previous }) => sizeOf(previous))).toEqual([undefined, 1, undefined, 2]);
      });

      it("delivers first the changes since its start revision", async () => {
        await put(pod("a", "x"));
        const revision = await put(pod("a", "y"));
        await put(pod("a", "z"));
        await remove(pod("a", "x"));

        const { changes } = watch("pods", revision);
        await put(pod("a", "v"));

        expect(changes.map(toText)).toEqual(["put a/z", "delete a/x", "put a/v"]);
      });

      it("delivers a deletion with the last object and the revision of the deletion", async () => {
        const { changes } = watch("pods", store.revision);
        await put(pod("a", "x"), { size: 1 });

        const revision = await remove(pod("a", "x"));

        const { entry } = changes.at(-1) as Change;
        expect(entry.revision).toBe(revision);
        expect(entry.object).toMatchObject({ metadata: { name: "x", resourceVersion: String(revision) }, size: 1 });
        expect(JSON.parse(entry.json)).toEqual(entry.object);
      });

      it("delivers nothing that readers cannot read yet", async () => {
        const seen: boolean[] = [];
        store.watch("pods", store.revision, ({ entry, key }) => {
          seen.push(store.revision >= entry.revision && store.get(key.resource, key.namespace, key.name) !== undefined);
        });

        await Promise.all([put(pod("a", "x")), put(pod("a", "y")), put(pod("a", "x"))]);

        expect(seen).toEqual([true, true, true]);
      });

      it("notifies watchers before the write resolves", async () => {
        const { changes } = watch("pods", store.revision);

        await put(pod("a", "x"));

        expect(changes.map(toText)).toEqual(["put a/x"]);
      });

      it("delivers nothing after stop", async () => {
        const { changes, stop } = watch("pods", store.revision);
        await put(pod("a", "x"));

        stop();
        stop();
        await put(pod("a", "y"));

        expect(changes.map(toText)).toEqual(["put a/x"]);
      });

      it("can be stopped and started inside a watcher's callback", async () => {
        const later: Change[] = [];
        const first: Change[] = [];
        const watcher = store.watch("pods", store.revision, (change) => {
          first.push(change);
          watcher?.stop();
          store.watch("pods", change.entry.revision, (next) => later.push(next));
        });

        await Promise.all([put(pod("a", "x")), put(pod("a", "y"))]);
        await put(pod("a", "z"));

        expect(first.map(toText)).toEqual(["put a/x"]);
        expect(later.map(toText)).toEqual(["put a/y", "put a/z"]);
      });

      it("waits for revisions that are still to come", async () => {
        const { changes } = watch("pods", store.revision + 1);

        await put(pod("a", "x"));
        await put(pod("a", "y"));

        expect(changes.map(toText)).toEqual(["put a/y"]);
      });
    });

    describe("compacting", () => {
      it("forgets changes, not objects", async () => {
        const first = await put(pod("a", "x"));
        const second = await put(pod("a", "y"));

        store.compact(second);

        expect(store.compactedRevision).toBe(second);
        expect(store.watch("pods", first, () => {})).toBeUndefined();
        expect(names(store.list("pods"))).toEqual(["x", "y"]);
      });

      it("keeps later changes for watches", async () => {
        const first = await put(pod("a", "x"));
        await put(pod("a", "y"));

        store.compact(first);

        expect(watch("pods", first).changes.map(toText)).toEqual(["put a/y"]);
      });

      it("does not disturb current watches", async () => {
        const { changes } = watch("pods", store.revision);
        store.compact(await put(pod("a", "x")));

        await put(pod("a", "y"));

        expect(changes.map(toText)).toEqual(["put a/x", "put a/y"]);
      });

      it("never goes back, nor beyond the newest revision", async () => {
        const revision = await put(pod("a", "x"));

        store.compact(revision + 100);
        store.compact(revision - 1);

        expect(store.compactedRevision).toBe(revision);
        expect(watch("pods", revision).changes).toEqual([]);
      });
    });

    function put(key: ObjectKey, fields: object = {}): Promise<number> {
      return store.write(key, (_, revision) => change("put", key, revision, fields));
    }

    function remove(key: ObjectKey): Promise<number> {
      return store.write(key, (current, revision) => change("delete", key, revision, current?.object));
    }

    function seenBy(key: ObjectKey): Promise<Entry | undefined> {
      return store.write(key, (current) => ({ do: "nothing", result: current }));
    }

    function watch(resource: string, revision: number) {
      const changes: Change[] = [];
      const watcher = store.watch(resource, revision, (change) => changes.push(change));
      return { changes, stop: () => watcher?.stop() };
    }
  });
}

function change(
  kind: "put" | "delete",
  { namespace, name }: ObjectKey,
  revision: number,
  fields: object = {},
): WriteDecision<number> {
  const object = { ...fields, metadata: { name, namespace, resourceVersion: String(revision) } };
  return { do: kind, object, json: JSON.stringify(object), result: revision };
}

function pod(namespace: string, name: string): ObjectKey {
  return { resource: "pods", namespace, name };
}

function names(entries: Iterable<Entry>): (string | undefined)[] {
  return [...entries].map(({ object }) => object.metadata.name);
}

function sizeOf(entry: Entry | undefined): number | undefined {
  return (entry?.object as { size?: number } | undefined)?.size;
}

function toText({ do: kind, key }: Change): string {
  return `${kind} ${key.namespace}/${key.name}`;
}
