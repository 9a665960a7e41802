import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import { systemRandom } from "../../time/index.ts";
import { CoordinationError } from "../errors.ts";
import { type Fence, fenceAnnotation, fencedCreate, fencedDelete, fencedUpdate, fenceOf } from "./kubernetes.ts";

describe("a fenced update", () => {
  it("changes the object and leaves its fence on it", async () => {
    const { client } = await world({ writer: "nobody" });

    const outcome = await fencedUpdate(client, notes, ref, held(7n), by("a"));

    expect(outcome).toMatchObject({ kind: "updated", object: { data: { writer: "a" } } });
    expect(await fenceInStore(client)).toBe(7n);
  });

  it("refuses a holder whose fence is smaller than the one on the object, and changes nothing", async () => {
    const { client } = await world({ fence: "8" });
    const before = await client.get(notes, ref);

    const outcome = await fencedUpdate(client, notes, ref, held(7n), by("a"));

    expect(outcome).toEqual({ kind: "stale", fence: 8n });
    expect(await client.get(notes, ref)).toEqual(before);
  });

  it("compares fences as numbers, beyond the precision of a float", async () => {
    const { client } = await world({ fence: "9007199254740993" });

    expect(await fencedUpdate(client, notes, ref, held(9007199254740992n), by("a"))).toMatchObject({ kind: "stale" });
    expect(await fencedUpdate(client, notes, ref, held(10007199254740992n), by("a"))).toMatchObject({
      kind: "updated",
    });
  });

  it("lets the same holder write again", async () => {
    const { client } = await world({ fence: "7" });

    expect(await fencedUpdate(client, notes, ref, held(7n), by("a"))).toMatchObject({ kind: "updated" });
  });

  it("writes nothing once the lease is lost", async () => {
    const { client } = await world({ writer: "nobody" });

    await expect(fencedUpdate(client, notes, ref, lost(7n), by("a"))).rejects.toMatchObject({ code: "lost" });

    expect(await client.get(notes, ref)).toMatchObject({ data: { writer: "nobody" } });
  });

  it("writes nothing when there is nothing to do", async () => {
    const { client } = await world({ writer: "a" });
    const before = await client.get(notes, ref);

    const outcome = await fencedUpdate(client, notes, ref, held(7n), () => undefined);

    expect(outcome).toEqual({ kind: "unchanged", object: before });
  });

  it("returns not-found when the object does not exist", async () => {
    const { client } = await world();

    const outcome = await fencedUpdate(client, notes, { namespace: "ns", name: "nobody" }, held(7n), by("a"));

    expect(outcome).toEqual({ kind: "not-found" });
  });

  it("decides again on a write of another client in between", async () => {
    const { client } = await world({ writer: "0" });
    const meddled = meddling(client, "update", 1, () => client.patch(notes, ref, { merge: { data: { writer: "1" } } }));

    const outcome = await fencedUpdate(meddled, notes, ref, held(7n), (note) => ({
      ...note,
      data: { writer: `${note.data?.writer} and a` },
    }));

    expect(outcome).toMatchObject({ kind: "updated", object: { data: { writer: "1 and a" } } });
  });

  it("gives up with a conflict when the object never stays still", async () => {
    const { client } = await world();
    let writes = 0;
    const meddled = meddling(client, "update", 1_000, () =>
      client.patch(notes, ref, { merge: { data: { writer: `${writes++}` } } }),
    );

    expect(await fencedUpdate(meddled, notes, ref, held(7n), by("a"))).toMatchObject({ kind: "conflict" });
    expect(writes).toBe(10);
  });

  it("writes exactly the object it read, even if the change modifies its identity", async () => {
    const { client } = await world();

    const outcome = await fencedUpdate(client, notes, ref, held(7n), () => ({
      metadata: { namespace: "ns", name: "other", annotations: { mine: "yes" } },
      data: { writer: "a" },
    }));

    expect(outcome).toMatchObject({ object: { metadata: { name: "note", annotations: { mine: "yes" } } } });
  });

  it("does not take an unreadable fence for none", async () => {
    const { client } = await world({ fence: "seven" });

    await expect(fencedUpdate(client, notes, ref, held(7n), by("a"))).rejects.toMatchObject({ code: "collision" });
  });

  it("puts the fence on the object before it writes status, which cannot carry one", async () => {
    const { client } = await world();
    const finished = (note: Note): Note => ({ ...note, status: { phase: "Done" } });

    const outcome = await fencedUpdate(client, notes, ref, held(7n), finished, { subresource: "status" });

    expect(outcome).toMatchObject({ kind: "updated", object: { status: { phase: "Done" } } });
    expect(await fencedUpdate(client, notes, ref, held(6n), finished, { subresource: "status" })).toEqual({
      kind: "stale",
      fence: 7n,
    });
  });

  // The paused holder checked its lease just before the pause, so the lease still counts as held.
  it.each([{}, { subresource: "status" } as const])(
    "of a paused holder never overwrites its successor's, in any interleaving (%j)",
    async (call) => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (scheduler) => {
          const { client, history } = await world({ writer: "0 0" });
          const slow = slowly(client, scheduler);
          const turns = async (fence: bigint) => {
            const outcomes = [];
            for (let turn = 0; turn < 3; turn++) {
              outcomes.push(await fencedUpdate(slow, notes, ref, held(fence), oneMoreBy(fence), call));
            }
            return outcomes;
          };

          const outcomes = (await scheduler.waitFor(Promise.all([turns(1n), turns(2n)]))).flat();

          const states = (await history()).map(lastWrite);
          const writers = states.map(({ writer }) => writer);
          expect(writers).toEqual(writers.toSorted((a, b) => a - b));
          expect(states.at(-1)?.count).toBe(outcomes.filter(({ kind }) => kind === "updated").length);
          expect(outcomes.slice(3).every(({ kind }) => kind === "updated")).toBe(true);
        }),
        { numRuns: 200 },
      );
    },
  );
});

describe("a fenced create", () => {
  it("leaves its fence on the new object", async () => {
    const { client } = await world();

    const outcome = await fencedCreate(client, notes, note("new"), held(7n));

    expect(outcome).toMatchObject({
      kind: "created",
      object: { metadata: { annotations: { [fenceAnnotation]: "7" } } },
    });
  });

  it("hands over the object that was there first", async () => {
    const { client } = await world({ writer: "first", fence: "3" });

    const outcome = await fencedCreate(client, notes, note("note"), held(7n));

    expect(outcome).toMatchObject({ kind: "already-exists", object: { data: { writer: "first" } } });
  });

  it("finds its own object when the reply to its first attempt was lost", async () => {
    const { client } = await world();
    await fencedCreate(client, notes, note("new"), held(7n));

    const again = await fencedCreate(client, notes, note("new"), held(7n));

    expect(again.kind === "already-exists" && fenceOf(again.object)).toBe(7n);
  });

  it("returns stale when a later holder created the object", async () => {
    const { client } = await world({ fence: "8" });

    expect(await fencedCreate(client, notes, note("note"), held(7n))).toEqual({ kind: "stale", fence: 8n });
  });

  it("tries again when the object that was there first is gone", async () => {
    const { client } = await world();
    const meddled = meddling(client, "get", 1, () => client.delete(notes, ref));

    expect(await fencedCreate(meddled, notes, note("note"), held(7n))).toMatchObject({ kind: "created" });
  });

  it("creates nothing once the lease is lost", async () => {
    const { client } = await world();

    await expect(fencedCreate(client, notes, note("new"), lost(7n))).rejects.toMatchObject({ code: "lost" });

    expect(await client.get(notes, { namespace: "ns", name: "new" })).toBeUndefined();
  });

  it("asks the programmer for a name", async () => {
    const { client } = await world();
    const draft = { metadata: { namespace: "ns", generateName: "note-" } };

    await expect(fencedCreate(client, notes, draft, held(7n))).rejects.toThrow(TypeError);
  });
});

describe("a fenced delete", () => {
  it("removes the object", async () => {
    const { client } = await world({ fence: "7" });

    expect(await fencedDelete(client, notes, ref, held(7n))).toEqual({ kind: "deleted" });
    expect(await fencedDelete(client, notes, ref, held(7n))).toEqual({ kind: "not-found" });
  });

  it("refuses a holder whose fence is smaller than the one on the object", async () => {
    const { client } = await world({ fence: "8" });

    expect(await fencedDelete(client, notes, ref, held(7n))).toEqual({ kind: "stale", fence: 8n });
    expect(await client.get(notes, ref)).toBeDefined();
  });

  it("does not delete an object that a later holder created under the same name during a pause", async () => {
    const { client } = await world({ fence: "7" });
    const paused = meddling(client, "delete", 1, async () => {
      await client.delete(notes, ref);
      await fencedCreate(client, notes, note("note"), held(8n));
    });

    expect(await fencedDelete(paused, notes, ref, held(7n))).toEqual({ kind: "stale", fence: 8n });
    expect(await fenceInStore(client)).toBe(8n);
  });

  it("deletes the latest version when another client changed the object in between", async () => {
    const { client } = await world();
    const meddled = meddling(client, "delete", 1, () => client.patch(notes, ref, { merge: { data: { writer: "x" } } }));

    expect(await fencedDelete(meddled, notes, ref, held(7n))).toEqual({ kind: "deleted" });
  });

  it("deletes nothing once the lease is lost", async () => {
    const { client } = await world();

    await expect(fencedDelete(client, notes, ref, lost(7n))).rejects.toMatchObject({ code: "lost" });
    expect(await client.get(notes, ref)).toBeDefined();
  });
});

interface Note extends KubeObject {
  readonly data?: { readonly writer?: string };
  readonly status?: { readonly phase: string };
}

const notes: ResourceType<Note> = {
  apiVersion: "test.interlock.dev/v1",
  kind: "Note",
  plural: "notes",
  namespaced: true,
};
const definitions: ResourceType = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const notesDefinition = {
  metadata: { name: "notes.test.interlock.dev" },
  spec: {
    group: "test.interlock.dev",
    scope: "Namespaced",
    names: { plural: "notes", kind: "Note" },
    versions: [
      { name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: anything } },
    ],
  },
};
const ref = { namespace: "ns", name: "note" };

async function world({ writer = "nobody", fence }: { writer?: string; fence?: string } = {}) {
  const client = testCluster({ clock: new ManualClock(), random: systemRandom(), namespaces: ["ns"] }).client();
  await client.create(definitions, notesDefinition);
  const { resourceVersion } = await client.list(notes);
  const annotations = fence === undefined ? {} : { [fenceAnnotation]: fence };
  await client.create(notes, { ...note("note"), metadata: { ...ref, annotations }, data: { writer } });

  /** Every state the note was ever in. */
  async function history() {
    const last = await client.get(notes, ref);
    const states: Note[] = [];
    for await (const event of client.watch(notes, { namespace: "ns", resourceVersion })) {
      if (event.type !== "BOOKMARK") states.push(event.object);
      if (states.at(-1)?.metadata.resourceVersion === last?.metadata.resourceVersion) break;
    }
    return states;
  }
  return { client, history };
}

function note(name: string): Note {
  return { metadata: { namespace: "ns", name } };
}

function by(writer: string) {
  return (read: Note): Note => ({ ...read, data: { writer } });
}

function held(fence: bigint): Fence {
  return { fence, assertHeld: () => {} };
}

function lost(fence: bigint): Fence {
  return {
    fence,
    assertHeld: () => {
      throw new CoordinationError("lost", "the lease ended");
    },
  };
}

async function fenceInStore(client: KubeClient) {
  const object = await client.get(notes, ref);
  return object && fenceOf(object);
}

/** `client`, but `meddle` happens before each of the first `times` calls of `method`. */
function meddling(
  client: KubeClient,
  method: "get" | "update" | "delete",
  times: number,
  meddle: () => Promise<unknown>,
) {
  let left = times;
  const call = client[method] as (...args: unknown[]) => Promise<unknown>;
  const meddled = async (...args: unknown[]) => {
    if (left-- > 0) await meddle();
    return call(...args);
  };
  return { ...client, [method]: meddled } as KubeClient;
}

/** `client` over a network on which requests and responses arrive in the order of `scheduler`. */
function slowly(client: KubeClient, scheduler: fc.Scheduler): KubeClient {
  const slow = (method: "get" | "update") => {
    const call = client[method] as (...args: unknown[]) => Promise<unknown>;
    return async (...args: unknown[]) => {
      await scheduler.schedule(Promise.resolve(), `${method} request`);
      const answer = await call(...args);
      return scheduler.schedule(Promise.resolve(answer), `${method} reply`);
    };
  };
  return { ...client, get: slow("get"), update: slow("update") } as KubeClient;
}

/** Writes who wrote and how often it was written, in data and in status: one call stores only one of them. */
function oneMoreBy(fence: bigint) {
  return (read: Note): Note => {
    const text = `${fence} ${lastWrite(read).count + 1}`;
    return { ...read, data: { writer: text }, status: { phase: text } };
  };
}

function lastWrite({ data, status }: Note) {
  const [writer, count] = (status?.phase ?? data?.writer ?? "").split(" ").map(Number);
  return { writer: writer ?? 0, count: count ?? 0 };
}
