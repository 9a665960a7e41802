import { type KubeClient, type KubeObject, type ResourceType, refOf } from "../kube/index.ts";
import { type Condition, findStall, type Stall, withStall } from "../resources/index.ts";

/** An object whose status can have conditions. */
export interface Stateful extends KubeObject {
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

interface ConditionWriter<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly initialStatus?: Stateful["status"];
}

/**
 * Writes the condition that reports a stall; removes it if `stall` is undefined. Returns the start of the stall in the existing
 * condition if that is earlier: another process may have reported it. Throws after a lost race; the next attempt reports again.
 */
export async function writeCondition<T extends KubeObject>(
  { metadata }: T,
  stall: Stall | undefined,
  { client, type, initialStatus }: ConditionWriter<T>,
): Promise<number | undefined> {
  const fresh = await client.get<T>(type, refOf({ metadata }));
  if (!fresh || fresh.metadata.uid !== metadata.uid) return undefined;
  const { status = initialStatus }: Stateful = fresh;
  const before = findStall(fresh);
  if (!status || (!stall && !before)) return undefined;
  const earlierMs = before && stall && before.sinceMs < stall.sinceMs ? before.sinceMs : undefined;
  const current = stall && { ...stall, sinceMs: earlierMs ?? stall.sinceMs };
  const next: T = { ...fresh, status: { ...status, conditions: withStall(status.conditions ?? [], current) } };
  const outcome = await client.update(type, next, { subresource: "status" });
  if (outcome.kind === "conflict") throw new Error(outcome.message);
  return earlierMs;
}
