import { isDeepStrictEqual } from "node:util";
import {
  customResourceDefinitions,
  informer,
  type KubeClient,
  KubeError,
  type ReportProblem,
} from "../../kube/index.ts";
import type { Clock, Random, Timer } from "../../time/index.ts";
import type { CustomKind, Kinds } from "../target/kinds.ts";
import { listKinds, readKinds } from "./list-kinds.ts";
import { namesOnly } from "./to-custom-kinds.ts";

/** The kinds that are known now, while definitions come and go. */
export interface KindsCache {
  /** A snapshot: the same object until a kind changes. May be a moment old. */
  readonly current: Kinds;
  /** Reads the definitions from the API server. Returns `current` if they may not be read. */
  read(signal: AbortSignal): Promise<Kinds>;
  /** Calls `changed` after each change of `current`, until the returned function is called. */
  subscribe(changed: () => void): () => void;
  /** Resolves when the definitions were read, or the API server refuses to list them; rejects when stopped before. */
  readonly synced: Promise<void>;
}

/** Kinds that never change. */
export function fixedKinds(kinds: Kinds): KindsCache {
  return {
    current: kinds,
    read: async () => kinds,
    subscribe: () => () => {},
    synced: Promise.resolve(),
  };
}

export interface WatchKindsOptions {
  readonly client: KubeClient;
  readonly declared: readonly CustomKind[];
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly problem: ReportProblem;
}

/** Definitions are often applied together: changes within this time are reported once. */
const settleMs = 100;

/**
 * Keeps kinds current with a watch on custom resource definitions. Without the permission to list and watch them, the built-in
 * and declared kinds remain, and the watch is retried.
 */
export function watchKinds({ client, declared, clock, random, signal, problem }: WatchKindsOptions): KindsCache {
  const listeners = new Set<() => void>();
  let incomplete: string | undefined = "custom resource definitions were not read yet; try again in a moment";
  let snapshot = readKinds([], declared, incomplete);
  let isOutdated = false;
  let hasRead = false;
  let hasSynced = false;
  let timer: Timer | undefined;
  let refuse = () => {};
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });

  function changed() {
    isOutdated = true;
    // Listeners need no event before the first snapshot is complete.
    if (!hasSynced) return;
    timer ??= clock.after(settleMs, notify, { background: true });
  }
  function notify() {
    timer = undefined;
    for (const listener of listeners) listener();
  }

  const definitions = informer({
    client,
    clock,
    random,
    signal,
    type: customResourceDefinitions,
    transform: namesOnly,
    problem(found) {
      problem(found);
      if (found.kind !== "forbidden" && found.kind !== "invalid") return;
      incomplete = `custom resource definitions could not be read or watched (${found.message}); ${grantKinds}`;
      changed();
      refuse();
    },
  });
  definitions.subscribe((event, definition, previous) => {
    if (hasRead) incomplete = undefined;
    // The API server changes the status of a definition several times before it serves it.
    if (event !== "MODIFIED" || !isDeepStrictEqual(definition.spec, previous?.spec)) changed();
  });
  const firstRead = definitions.synced.then(() => {
    hasRead = true;
    incomplete = undefined;
    changed();
  });
  const synced = Promise.race([firstRead, refused]).then(() => {
    hasSynced = true;
  });
  // An unhandled rejection would end the process, and no caller has to await these promises.
  for (const promise of [firstRead, synced]) promise.catch(() => {});
  signal.addEventListener("abort", () => timer?.cancel(), { once: true });

  function current(): Kinds {
    if (isOutdated) snapshot = readKinds(definitions.list(), declared, incomplete);
    isOutdated = false;
    return snapshot;
  }

  return {
    get current() {
      return current();
    },
    read: (call) =>
      listKinds(client, declared, call).catch((error: unknown) => {
        if (error instanceof KubeError && error.code === "forbidden") return current();
        throw error;
      }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    synced,
  };
}

/** The fix for an operator if definitions may not be read. */
export const grantKinds =
  "grant get, list and watch on customresourcedefinitions.apiextensions.k8s.io, as deploy/ does";
