import { type Api, commit } from "../api/api.ts";
import type { Resource } from "../api/resource.ts";
import { StatusError } from "../api/status-error.ts";
import { markEnded } from "../api/update.ts";
import { definitions } from "../kinds/definitions.ts";
import { namespaces } from "../kinds/namespaces.ts";
import { type Change, type Entry, keyText, type ObjectKey } from "../object-store.ts";
import { Dependents } from "./dependents.ts";
import { deleteObjects, reconcileDefinition } from "./reconcile-definition.ts";
import { reconcileOwnership } from "./reconcile-ownership.ts";

const retryMs = 1_000;

/**
 * Does for objects of any kind what a cluster's controller manager does: collects garbage, empties namespaces, establishes
 * definitions and removes them. Every reconciliation reads the current state; a change only queues the key of its object.
 */
export function runControllers(api: Api): { stop(): void } {
  const dependents = new Dependents();
  const work = new WorkList(reconcile);
  const watched = new Map<string, { stop(): void } | undefined>();

  async function reconcile(key: ObjectKey): Promise<void> {
    try {
      if (key.resource === namespaces.storedAs) await reconcileNamespace(api, key.name);
      if (key.resource === definitions.storedAs) await reconcileDefinition(api, key.name);
      await reconcileOwnership(api, dependents, key);
    } catch (error) {
      // After a conflict, or an outage of the store. Any other refusal would be the same again.
      const isTransient = !(error instanceof StatusError) || error.status.reason === "Conflict";
      if (isTransient) api.clock.after(retryMs, () => work.add(key));
    }
  }

  function watchResource(storedAs: string) {
    if (watched.has(storedAs)) return;
    for (const entry of api.store.list(storedAs)) {
      dependents.update(undefined, entry);
      if (needsReconcile(storedAs, entry)) work.add(entry.key);
    }
    watched.set(storedAs, api.store.watch(storedAs, api.store.revision, onChange));
  }

  function onChange(change: Change) {
    const { key, entry, previous } = change;
    const exists = change.do === "put";
    dependents.update(previous, exists ? entry : undefined);
    if (exists && needsReconcile(key.resource, entry)) work.add(key);
    if (!exists) for (const dependent of dependents.list(entry.object.metadata.uid)) work.add(dependent);
    if (!exists || previous?.object.metadata.deletionTimestamp !== entry.object.metadata.deletionTimestamp) {
      for (const owner of dependents.listOwners(api.registry, entry)) work.add(owner);
    }
    queueContainers(change, exists);
  }

  /** Queues the namespace and the definition of a changed object, which may wait for its deletion. */
  function queueContainers({ key }: Change, exists: boolean) {
    const namespace = key.namespace ? api.store.get(namespaces.storedAs, "", key.namespace) : undefined;
    if (namespace?.object.metadata.deletionTimestamp) work.add(namespace.key);
    if (exists) return;
    const definition = api.store.get(definitions.storedAs, "", key.resource);
    if (definition?.object.metadata.deletionTimestamp) work.add(definition.key);
  }

  function watchAll() {
    for (const { storedAs } of api.registry.all) watchResource(storedAs);
  }
  watchAll();
  api.registry.onChange(watchAll);
  return {
    stop: () => {
      work.stop();
      for (const watching of watched.values()) watching?.stop();
    },
  };
}

function needsReconcile(storedAs: string, { object: { metadata } }: Entry): boolean {
  if (storedAs === definitions.storedAs) return true;
  return metadata.ownerReferences !== undefined || metadata.deletionTimestamp !== undefined;
}

/** Reconciles keys one at a time. A key that is added several times while it waits is reconciled once. */
class WorkList {
  readonly #reconcile: (key: ObjectKey) => Promise<void>;
  readonly #waiting = new Map<string, ObjectKey>();
  #running = false;
  #stopped = false;

  /** `reconcile` must not throw. */
  constructor(reconcile: (key: ObjectKey) => Promise<void>) {
    this.#reconcile = reconcile;
  }

  add(key: ObjectKey): void {
    this.#waiting.set(keyText(key), key);
    if (this.#running || this.#stopped) return;
    this.#running = true;
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
  }

  async #run() {
    // The caller of `add` is in the middle of a change, which has to end first.
    await undefined;
    for (const [text, key] of this.#waiting) {
      this.#waiting.delete(text);
      if (!this.#stopped) await this.#reconcile(key);
    }
    this.#running = false;
  }
}

/** Empties a namespace that is being deleted; removes it when nothing is left in it. */
async function reconcileNamespace(api: Api, name: string): Promise<void> {
  const { deletionTimestamp } = api.store.get(namespaces.storedAs, "", name)?.object.metadata ?? {};
  if (!deletionTimestamp) return;

  let left = 0;
  for (const resource of listNamespaced(api)) left += await deleteObjects(api, resource, name);
  if (left > 0) return;
  await commit(api, namespaces, { namespace: "", name }, (current, revision) => {
    if (!current?.object.metadata.deletionTimestamp || current.object.metadata.finalizers) {
      return { do: "nothing", result: undefined };
    }
    return { do: "delete", ...markEnded(current.object, revision), result: undefined };
  });
}

/** One resource for each kind of object that lives in namespaces. */
function listNamespaced({ registry }: Api): Resource[] {
  const each = new Map(registry.all.filter(({ namespaced }) => namespaced).map((one) => [one.storedAs, one]));
  return [...each.values()];
}
