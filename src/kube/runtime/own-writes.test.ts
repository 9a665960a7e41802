import { expect, it } from "vitest";
import type { KubeClient } from "../client.ts";
import type { KubeObject } from "../object.ts";
import type { ChangeHandler } from "./object-cache.ts";
import { OwnWrites } from "./own-writes.ts";

const things = { apiVersion: "v1", kind: "Thing", plural: "things", namespaced: true };

it("marks versions older than a tracked update or patch as outdated, until the object is deleted", async () => {
  const ownWrites = new OwnWrites();
  const informer = fakeInformer();
  const client = ownWrites.track(fakeClient("updated"), [informer]);

  await client.update(things, thing("5"));
  expect(ownWrites.isOutdated(thing("9"))).toBe(true);
  expect(ownWrites.isOutdated(thing("10"))).toBe(false);
  await client.patch(things, { name: "a" }, { merge: {} });
  expect(ownWrites.isOutdated(thing("10"))).toBe(true);

  informer.change("DELETED", thing("11"), undefined);
  expect(ownWrites.isOutdated(thing("9"))).toBe(false);
});

it("forgets a version when the informer shows it", async () => {
  const ownWrites = new OwnWrites();
  const informer = fakeInformer();
  const client = ownWrites.track(fakeClient("updated"), [informer]);
  await client.update(things, thing("5"));

  informer.change("MODIFIED", thing("9"), undefined);
  expect(ownWrites.isOutdated(thing("9"))).toBe(true);
  informer.change("MODIFIED", thing("10"), undefined);
  expect(ownWrites.isOutdated(thing("9"))).toBe(false);
});

it("notes no version that the informer shows already, because the watch was faster than the response", async () => {
  const ownWrites = new OwnWrites();
  const informer = fakeInformer();
  const client = ownWrites.track(fakeClient("updated"), [informer]);
  informer.change("MODIFIED", thing("10"), undefined);

  await client.update(things, thing("5"));

  expect(ownWrites.isOutdated(thing("9"))).toBe(false);
});

it("notes nothing for a write that lost a race", async () => {
  const ownWrites = new OwnWrites();
  const client = ownWrites.track(fakeClient("conflict"), []);

  await client.update(things, thing("5"));

  expect(ownWrites.isOutdated(thing("5"))).toBe(false);
});

it("marks every version of an object that this process deleted as outdated, until the informer shows the deletion", () => {
  const ownWrites = new OwnWrites();
  const informer = fakeInformer();
  ownWrites.track(fakeClient("updated"), [informer]);
  informer.change("ADDED", thing("5"), undefined);

  ownWrites.noteGone(thing("5"));
  expect(ownWrites.isOutdated(thing("99"))).toBe(true);

  informer.change("DELETED", thing("99"), undefined);
  expect(ownWrites.isOutdated(thing("99"))).toBe(false);
});

it("keeps no entry for a deletion that the informer has shown before the response arrives", async () => {
  const ownWrites = new OwnWrites();
  const informer = fakeInformer();
  ownWrites.track(fakeClient("updated"), [informer]);
  informer.change("ADDED", thing("5"), undefined);
  informer.change("DELETED", thing("6"), undefined);

  ownWrites.noteGone(thing("5"));

  expect(ownWrites.isOutdated(thing("5"))).toBe(false);
});

it("keeps no entry for an update that removed the last finalizer after the informer has shown the deletion", () => {
  const ownWrites = new OwnWrites();
  const deleted = { ...thing("5"), metadata: { ...thing("5").metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };

  ownWrites.note(deleted);

  expect(ownWrites.isOutdated(thing("4"))).toBe(false);
});

it("marks versions older than a tracked deletion as outdated while the object remains", async () => {
  const ownWrites = new OwnWrites();
  const client = ownWrites.track(fakeClient("updated"), [fakeInformer()]);

  await client.delete(things, { name: "a" });

  expect(ownWrites.isOutdated(thing("9"))).toBe(true);
  expect(ownWrites.isOutdated(thing("10"))).toBe(false);
});

function thing(resourceVersion: string): KubeObject {
  return { apiVersion: "v1", kind: "Thing", metadata: { name: "a", uid: "u", resourceVersion } };
}

/** Its first write has version 10, its second version 11. */
function fakeClient(kind: "updated" | "conflict"): KubeClient {
  let version = 10;
  const write = async () =>
    kind === "updated" ? { kind, object: thing(String(version++)) } : { kind, message: "changed" };
  const remove = async () => ({ kind: "deleted", remaining: thing(String(version++)) });
  return { update: write, patch: write, delete: remove } as unknown as KubeClient;
}

function fakeInformer() {
  let handler: ChangeHandler<KubeObject> = () => {};
  let shown: KubeObject | undefined;
  return {
    get: () => shown,
    subscribe(next: ChangeHandler<KubeObject>) {
      handler = next;
      return () => {};
    },
    change(...change: Parameters<ChangeHandler<KubeObject>>) {
      shown = change[0] === "DELETED" ? undefined : change[1];
      handler(...change);
    },
  };
}
