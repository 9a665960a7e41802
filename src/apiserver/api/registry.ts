import type { CustomResourceDefinition } from "../../kube/index.ts";
import { configMaps, secrets } from "../kinds/config.ts";
import { customResources } from "../kinds/custom.ts";
import { definitions } from "../kinds/definitions.ts";
import { events, newEvents } from "../kinds/events.ts";
import { leases } from "../kinds/leases.ts";
import { namespaces } from "../kinds/namespaces.ts";
import { plainKinds } from "../kinds/plain.ts";
import { tektonKinds } from "../kinds/tekton.ts";
import type { Entry, ObjectStore } from "../object-store.ts";
import type { Resource } from "./resource.ts";

/** All resources that are served now: the built-in ones, and those of the definitions in the store. */
export class Registry {
  readonly #builtIn: readonly Resource[] = [
    namespaces,
    configMaps,
    secrets,
    events,
    ...plainKinds,
    leases,
    newEvents,
    definitions,
    ...tektonKinds,
  ];
  readonly #custom = new Map<string, readonly Resource[]>();
  readonly #listeners = new Set<() => void>();
  #index = new Map<string, Resource>();
  #all: readonly Resource[] = [];
  readonly #watching: { stop(): void } | undefined;

  constructor(store: ObjectStore) {
    for (const entry of store.list(definitions.storedAs)) this.#define(entry, entry.revision);
    this.#rebuild();
    this.#watching = store.watch(definitions.storedAs, store.revision, ({ do: what, entry, previous }) => {
      if (what === "delete") this.#custom.delete(entry.object.metadata.name ?? "");
      else if (entry.object.metadata.generation !== previous?.object.metadata.generation)
        this.#define(entry, entry.revision);
      else return;
      this.#rebuild();
    });
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#index.get(`${group}/${version}/${plural}`);
  }

  /** Finds a resource by the apiVersion and kind of its objects. */
  findKind(apiVersion: string, kind: string): Resource | undefined {
    return this.#all.find((resource) => resource.apiVersion === apiVersion && resource.kind === kind);
  }

  get all(): readonly Resource[] {
    return this.#all;
  }

  /** Calls `changed` whenever a resource is added, changed or removed. */
  onChange(changed: () => void): void {
    this.#listeners.add(changed);
  }

  close(): void {
    this.#watching?.stop();
  }

  #define({ object }: Entry, since: number) {
    this.#custom.set(object.metadata.name ?? "", customResources(object as CustomResourceDefinition, since));
  }

  #rebuild() {
    const custom = [...this.#custom.values()].flat();
    const defined = new Set(custom.map(({ storedAs }) => storedAs));
    this.#all = [...this.#builtIn.filter(({ storedAs }) => !defined.has(storedAs)), ...custom];
    this.#index = new Map(this.#all.map((one) => [`${one.group}/${one.version}/${one.plural}`, one]));
    for (const changed of this.#listeners) changed();
  }
}
