import type { KubeObject } from "../../kube/index.ts";
import { type Api, timestamp } from "./api.ts";
import { deleteObject } from "./delete.ts";
import { listObjects } from "./list.ts";
import { patchObject } from "./patch.ts";
import type { Resource } from "./resource.ts";
import { notFound, StatusError } from "./status-error.ts";

interface EvictablePod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface DisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly Requirement[];
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly desiredHealthy?: number;
    readonly currentHealthy?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
  };
}

interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

export interface EvictionOptions {
  readonly uid?: string;
  readonly dryRun?: boolean;
}

/**
 * Deletes a pod as the eviction subresource does: its disruption budget must allow it, and counts it. No controller here
 * computes the status of a budget: without one, nothing it selects can be evicted.
 */
export async function evictPod(
  api: Api,
  pods: Resource,
  ref: { readonly namespace: string; readonly name: string },
  { uid, dryRun = false }: EvictionOptions,
): Promise<void> {
  const found = api.store.get(pods.storedAs, ref.namespace, ref.name);
  if (!found) throw notFound(pods, ref.name);
  const pod: EvictablePod = found.object;
  if (needsBudget(pod)) await takeFromBudget(api, ref, pod, dryRun);
  const preconditions = uid === undefined ? {} : { uid };
  await deleteObject(api, pods, ref, { preconditions, dryRun });
}

/** A pod that does not run, or is already being deleted, disrupts nothing. */
function needsBudget({ metadata, status }: EvictablePod): boolean {
  return metadata.deletionTimestamp === undefined && !["Succeeded", "Failed", "Pending"].includes(status?.phase ?? "");
}

async function takeFromBudget(
  api: Api,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  pod: EvictablePod,
  dryRun: boolean,
): Promise<void> {
  const budgets = api.registry.find("policy", "v1", "poddisruptionbudgets");
  if (!budgets) return;
  const all: readonly DisruptionBudget[] = listObjects(api, budgets, { namespace }).items.map(({ object }) => object);
  const [budget, ...others] = all.filter((one) => selects(one, pod.metadata.labels ?? {}));
  if (!budget) return;
  if (others.length > 0) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new StatusError(500, message);
  }
  const { metadata, status = {} } = budget;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw refusal(`The disruption budget ${metadata.name} is still being processed by the server.`);
  }
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0 } = status;
  // A pod that is not ready is not among the healthy ones that the budget protects.
  if (!isReady(pod) && desiredHealthy > 0 && currentHealthy >= desiredHealthy) return;
  if (disruptionsAllowed <= 0) {
    const needs = `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw refusal(`The disruption budget ${metadata.name} ${needs}`);
  }
  const next = {
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...status.disruptedPods, [name]: timestamp(api.clock) },
  };
  const value = { metadata: { resourceVersion: metadata.resourceVersion }, status: next };
  const where = { namespace, name: metadata.name ?? "", subresource: "status" as const, dryRun };
  await patchObject(api, budgets, { kind: "merge", value }, { ...where, fieldValidation: "Ignore" });
}

function selects({ spec }: DisruptionBudget, labels: Readonly<Record<string, string>>): boolean {
  if (!spec?.selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = spec.selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels))
  );
}

function meets({ key, operator, values = [] }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

function isReady({ status }: EvictablePod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

function refusal(cause: string): StatusError {
  return new StatusError(429, "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: { causes: [{ reason: "DisruptionBudget", message: cause }], retryAfterSeconds: 10 },
  });
}
