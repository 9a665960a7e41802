import { createObject } from "../../src/apiserver/api/create.ts";
import { LabelIndex } from "../../src/apiserver/api/label-index.ts";
import { Registry } from "../../src/apiserver/api/registry.ts";
import { runControllers } from "../../src/apiserver/controllers/run-controllers.ts";
import { embeddedClient } from "../../src/apiserver/embedded-client.ts";
import { namespaces } from "../../src/apiserver/kinds/namespaces.ts";
import type { Change } from "../../src/apiserver/object-store.ts";
import { KubeError } from "../../src/kube/client.ts";
import type { KubeClient, KubeObject, ResourceType, WatchEvent } from "../../src/kube/index.ts";
import type { Clock, Random } from "../../src/time/index.ts";
import { checkedClient, type Verb } from "./checked-client.ts";
import { volatileStore } from "./volatile-store.ts";

/** The embedded API server in memory, and the faults that a test can ask of it. */
export interface TestCluster {
  /** The cluster as `identity` may use it. */
  client(identity?: string): KubeClient;
  /** From now on `verb` on `resource` ("leases", "tasks/status") throws `forbidden` for every caller. */
  forbid(verb: Verb, resource: string): void;
  /** Ends a `forbid`. */
  allow(verb: Verb, resource: string): void;
  /** Forgets the history: every open watch, and every attempt to continue from before, ends in `gone`. */
  compact(): void;
  /** Ends every open watch, as a server does that restarts. */
  dropWatches(): void;
  /** Calls `onChange` for every change of a resource ("pods", "jobs.batch") in the moment it happens, whatever becomes of watches. */
  witness(resource: string, onChange: (change: Change) => void): void;
}

export interface TestClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The namespaces that exist. */
  readonly namespaces?: readonly string[];
  /** How far a watch may lag behind before it is `gone`. Default 1,000 changes. */
  readonly keptChanges?: number;
}

/** Every call is decided in one go, without waiting for anything: what a simulation can interleave are whole calls. */
export function testCluster({
  clock,
  random,
  keptChanges = 1_000,
  namespaces: names = ["default"],
}: TestClusterOptions): TestCluster {
  const store = volatileStore({ keptChanges });
  const api = { store, registry: new Registry(store), labels: new LabelIndex(store), clock, random };
  // A volatile store decides at once: the namespaces are there when this returns.
  for (const name of names) void createObject(api, namespaces, { value: { metadata: { name } } }, { namespace: "" });
  store.compact(store.revision);
  runControllers(api);

  const forbidden = new Set<string>();
  const watches = new Set<(why?: KubeError) => void>();
  const endWatches = (why?: KubeError) => {
    for (const end of watches) end(why);
  };
  return {
    client(identity = "admin") {
      const direct = checkedClient(embeddedClient(api), ({ verb, resource, group, namespace }) => {
        if (!forbidden.has(`${verb} ${resource}`)) return;
        const place = namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
        const attempt = `cannot ${verb} resource "${resource}" in API group "${group}" ${place}`;
        throw new KubeError("forbidden", `${resource} is forbidden: User "${identity}" ${attempt}`);
      });
      return { ...direct, watch: (type, query, call) => breakable(watches, direct, { type, query, call }) };
    },
    forbid: (verb, resource) => void forbidden.add(`${verb} ${resource}`),
    allow: (verb, resource) => void forbidden.delete(`${verb} ${resource}`),
    compact() {
      store.compact(store.revision);
      endWatches(new KubeError("gone", "the history was compacted"));
    },
    dropWatches: () => endWatches(),
    witness: (resource, onChange) => void store.watch(resource, store.revision, onChange),
  };
}

interface Watched<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly query: Parameters<KubeClient["watch"]>[1];
  readonly call: Parameters<KubeClient["watch"]>[2];
}

/** The watch of `direct`, until its entry in `watches` is called: it ends quietly, or with an error. */
async function* breakable<T extends KubeObject>(
  watches: Set<(why?: KubeError) => void>,
  direct: KubeClient,
  { type, query, call }: Watched<T>,
): AsyncIterable<WatchEvent<T>> {
  const stop = new AbortController();
  let broken: KubeError | undefined;
  const end = (why?: KubeError) => {
    broken = why;
    stop.abort();
  };
  const follow = () => stop.abort();
  if (call?.signal?.aborted) return;
  call?.signal?.addEventListener("abort", follow, { once: true });
  watches.add(end);
  try {
    yield* direct.watch(type, query, { signal: stop.signal });
    if (broken) throw broken;
  } finally {
    watches.delete(end);
    call?.signal?.removeEventListener("abort", follow);
  }
}
