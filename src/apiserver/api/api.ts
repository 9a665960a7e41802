import type { KubeObject } from "../../kube/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import { type Draft, deepFreeze, writeJson } from "../json/json.ts";
import type { Entry, ObjectStore, WriteDecision } from "../object-store.ts";
import type { LabelIndex } from "./label-index.ts";
import type { Registry } from "./registry.ts";
import type { Resource } from "./resource.ts";

/** The embedded API server without its HTTP: the parts that all operations use. */
export interface Api {
  readonly store: ObjectStore;
  readonly registry: Registry;
  readonly labels: LabelIndex;
  readonly clock: Clock;
  readonly random: Random;
}

/** A time as metadata carries it: whole seconds. */
export function timestamp(clock: Clock): string {
  return `${new Date(clock.wallMs()).toISOString().slice(0, -5)}Z`;
}

/** A decision that may be a refusal. Refusals, too, are returned only when the state that they depend on is durable. */
type Outcome<T> = { readonly done: T } | { readonly refused: unknown };

export interface CommitTarget {
  readonly namespace: string;
  readonly name: string;
  /** Returns the result of the decision, at the current revision, and writes nothing. */
  readonly dryRun?: boolean;
}

/** Writes what `decide` decides; a refusal thrown in it is thrown here. */
export async function commit<T>(
  { store }: Api,
  resource: Resource,
  { namespace, name, dryRun = false }: CommitTarget,
  decide: (current: Entry | undefined, revision: number) => WriteDecision<T>,
): Promise<T> {
  const key = { resource: resource.storedAs, namespace, name };
  const outcome = await store.write<Outcome<T>>(key, (current, revision) => {
    try {
      const decision = decide(current, dryRun && current ? current.revision : revision);
      const result = { done: decision.result };
      return dryRun ? { do: "nothing", result } : { ...decision, result };
    } catch (refused) {
      return { do: "nothing", result: { refused } };
    }
  });
  if ("refused" in outcome) throw outcome.refused;
  return outcome.done;
}

/** The immutable object that is stored for `draft` at `revision`. */
export function sealObject(draft: Draft, revision: number | undefined): { object: KubeObject; json: string } {
  const { apiVersion, kind, metadata, ...rest } = draft;
  const version = revision === undefined ? {} : { resourceVersion: String(revision) };
  const whole = { apiVersion, kind, metadata: { ...(metadata as object), ...version }, ...rest };
  return { object: deepFreeze(whole) as KubeObject, json: writeJson(whole) };
}
