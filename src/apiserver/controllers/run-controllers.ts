import type { Api } from "../api/api.ts";
import { StatusError } from "../api/status-error.ts";
import { definitions } from "../kinds/definitions.ts";
import { namespaces } from "../kinds/namespaces.ts";
import type { Change, Entry, ObjectKey } from "../object-store.ts";
import { Dependents } from "./dependents.ts";
import { lookAfterDefinition } from "./look-after-definition.ts";
import { lookAfterNamespace } from "./look-after-namespace.ts";
import { lookAfterOwnership } from "./look-after-ownership.ts";

const retryMs = 1_000;

/**
 * What a cluster's controller manager does for the objects of any kind: collects garbage, empties namespaces, makes
 * definitions ready and removes them. Every turn reads the current state; a change only names the object.
 */
export function runControllers(api: Api): { stop(): void } {
  const dependents = new Dependents();
  const work = new WorkList(turn);
  const watched = new Map<string, { stop(): void } | undefined>();

  async function turn(key: ObjectKey): Promise<void> {
    try {
      if (key.resource === namespaces.storedAs) await lookAfterNamespace(api, key.name);
      if (key.resource === definitions.storedAs) await lookAfterDefinition(api, key.name);
      await lookAfterOwnership(api, dependents, key);
    } catch (error) {
      // A conflict means that another writer was faster: its change triggers the next turn. Other errors are retried.
      const again = !(error instanceof StatusError) || error.status.reason === "Conflict";
      if (again) api.clock.after(retryMs, () => work.add(key));
    }
  }

  function follow(storedAs: string) {
    if (watched.has(storedAs)) return;
    for (const entry of api.store.list(storedAs)) {
      const key = keyOf(storedAs, entry);
      dependents.update(key, undefined, entry);
      if (needsCare(storedAs, entry)) work.add(key);
    }
    watched.set(storedAs, api.store.watch(storedAs, api.store.revision, seen));
  }

  function seen(change: Change) {
    const { key, entry, previous } = change;
    const exists = change.do === "put";
    dependents.update(key, previous, exists ? entry : undefined);
    if (exists && needsCare(key.resource, entry)) work.add(key);
    if (!exists) for (const dependent of dependents.of(entry.object.metadata.uid)) work.add(dependent);
    if (!exists || previous?.object.metadata.deletionTimestamp !== entry.object.metadata.deletionTimestamp) {
      for (const owner of dependents.ownersOf(api.registry, entry)) work.add(owner);
    }
    wakeContainers(change, exists);
  }

  /** Those who wait for an object to go: its namespace, and its definition. */
  function wakeContainers({ key }: Change, exists: boolean) {
    const home = key.namespace ? api.store.get(namespaces.storedAs, "", key.namespace) : undefined;
    if (home?.object.metadata.deletionTimestamp) work.add(keyOf(namespaces.storedAs, home));
    if (exists) return;
    const definition = api.store.get(definitions.storedAs, "", key.resource);
    if (definition?.object.metadata.deletionTimestamp) work.add(keyOf(definitions.storedAs, definition));
  }

  function followAll() {
    for (const { storedAs } of api.registry.all) follow(storedAs);
  }
  followAll();
  api.registry.onChange(followAll);
  return {
    stop: () => {
      work.stop();
      for (const watching of watched.values()) watching?.stop();
    },
  };
}

function needsCare(storedAs: string, { object: { metadata } }: Entry): boolean {
  if (storedAs === definitions.storedAs) return true;
  return metadata.ownerReferences !== undefined || metadata.deletionTimestamp !== undefined;
}

function keyOf(resource: string, { object: { metadata } }: Entry): ObjectKey {
  return { resource, namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

/** Keys to look at, each once however often it is added, one at a time. */
class WorkList {
  readonly #turn: (key: ObjectKey) => Promise<void>;
  readonly #waiting = new Map<string, ObjectKey>();
  #running = false;
  #stopped = false;

  /** `turn` must not throw. */
  constructor(turn: (key: ObjectKey) => Promise<void>) {
    this.#turn = turn;
  }

  add(key: ObjectKey): void {
    this.#waiting.set(`${key.resource}\u0000${key.namespace}\u0000${key.name}`, key);
    if (this.#running || this.#stopped) return;
    this.#running = true;
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
  }

  async #run() {
    // The caller of `add` is in the middle of a change: the first turn begins after it.
    await undefined;
    for (const [text, key] of this.#waiting) {
      this.#waiting.delete(text);
      if (!this.#stopped) await this.#turn(key);
    }
    this.#running = false;
  }
}
