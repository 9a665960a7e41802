import type {
  Call,
  DeleteOptions,
  DeleteOutcome,
  KubeClient,
  KubeObject,
  ObjectRef,
  ResourceType,
  UpdateOutcome,
  WriteCall,
} from "../../kube/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Lease } from "../locks/locks.ts";

/** The annotation with the fence of the last write. */
export const fenceAnnotation = "kubernaut.ai/fence";

/** The part of a lease that a write under it needs. */
export type Fence = Pick<Lease, "fence" | "assertHeld">;

/** A later holder has written: the caller no longer holds the lock, and must stop. */
export interface StaleFence {
  readonly kind: "stale";
  readonly fence: bigint;
}

/** `unchanged`: there was nothing to do. `conflict`: others changed the object faster than we could read it. */
export type FencedUpdateOutcome<T> = UpdateOutcome<T> | { readonly kind: "unchanged"; readonly object: T } | StaleFence;

export type FencedCreateOutcome<T> =
  | { readonly kind: "created"; readonly object: T }
  | { readonly kind: "already-exists"; readonly object: T }
  | { readonly kind: "conflict"; readonly message: string }
  | StaleFence;

export type FencedDeleteOutcome = DeleteOutcome | StaleFence;

// Under a lock only writers outside of it cause conflicts; ten in a row mean that one writes in a loop.
const maxTries = 10;

/**
 * Changes an object under a lock. A holder that was paused and lost its lease cannot overwrite the write of a later one:
 * its version is old, and the version it reads next carries the larger fence. `change` is pure, and is asked again for
 * every version read; undefined means that there is nothing to do.
 */
export async function fencedUpdate<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  ref: ObjectRef,
  lease: Fence,
  change: (object: T) => T | undefined,
  { signal, subresource }: WriteCall = {},
): Promise<FencedUpdateOutcome<T>> {
  const call = signal ? { signal } : {};
  let outcome: UpdateOutcome<T> = { kind: "not-found" };
  for (let tries = 0; tries < maxTries; tries++) {
    const read = await client.get(type, ref, call);
    if (!read) return { kind: "not-found" };
    const stale = staleness(read, lease);
    if (stale) return stale;
    const changed = change(read);
    if (!changed) return { kind: "unchanged", object: read };

    lease.assertHeld();
    outcome = subresource
      ? await updateStatus(client, type, { read, changed, lease, call })
      : await client.update(type, fencedSuccessor(changed, read, lease), call);
    if (outcome.kind !== "conflict") return outcome;
  }
  return outcome;
}

interface StatusUpdate<T> {
  readonly read: T;
  readonly changed: T;
  readonly lease: Fence;
  readonly call: Call;
}

/** Status is written without annotations: the fence goes first, and the status follows from exactly that version. */
async function updateStatus<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { read, changed, lease, call }: StatusUpdate<T>,
): Promise<UpdateOutcome<T>> {
  let base = read;
  if (fenceOf(read) !== lease.fence) {
    const raised = await client.update(type, fencedSuccessor(read, read, lease), call);
    if (raised.kind !== "updated") return raised;
    base = raised.object;
    lease.assertHeld();
  }
  return client.update(type, fencedSuccessor(changed, base, lease), { ...call, subresource: "status" });
}

/** Creates an object under a lock. Its name must follow from its purpose, so that two holders mean the same object. */
export async function fencedCreate<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  lease: Fence,
  call?: Call,
): Promise<FencedCreateOutcome<T>> {
  const { name, namespace } = object.metadata;
  if (!name) throw new TypeError("a fenced object needs a name of its own, not generateName");

  for (let tries = 0; tries < maxTries; tries++) {
    lease.assertHeld();
    const outcome = await client.create(type, withFence(object, lease.fence), call);
    if (outcome.kind === "created") return outcome;

    const existing = await client.get(type, { name, ...(namespace !== undefined && { namespace }) }, call);
    if (existing) return staleness(existing, lease) ?? { kind: "already-exists", object: existing };
  }
  return { kind: "conflict", message: `${type.kind} "${name}" keeps being created and deleted by others` };
}

/** Deletes an object under a lock: exactly the one that was read, unless a later holder wrote it. */
export async function fencedDelete(
  client: KubeClient,
  type: ResourceType,
  ref: ObjectRef,
  lease: Fence,
  { propagation, signal }: Pick<DeleteOptions, "propagation"> & Call = {},
): Promise<FencedDeleteOutcome> {
  const call = signal ? { signal } : {};
  let outcome: DeleteOutcome = { kind: "not-found" };
  for (let tries = 0; tries < maxTries; tries++) {
    const read = await client.get(type, ref, call);
    if (!read) return { kind: "not-found" };
    const stale = staleness(read, lease);
    if (stale) return stale;

    lease.assertHeld();
    const { uid, resourceVersion } = toObjectIdentity(read);
    const options = { preconditions: { uid, resourceVersion }, ...(propagation && { propagation }) };
    outcome = await client.delete(type, ref, options, call);
    if (outcome.kind !== "conflict") return outcome;
  }
  return outcome;
}

function staleness(object: KubeObject, lease: Fence): StaleFence | undefined {
  const fence = fenceOf(object);
  return fence !== undefined && fence > lease.fence ? { kind: "stale", fence } : undefined;
}

/** The fence under which `object` was last written; undefined if it never was. */
export function fenceOf(object: KubeObject): bigint | undefined {
  const text = object.metadata.annotations?.[fenceAnnotation];
  if (text === undefined) return undefined;
  if (/^\d{1,40}$/.test(text)) return BigInt(text);
  // Not "no fence": guessing here could let a stale holder write.
  const what = `${object.kind} "${object.metadata.name}"`;
  throw new CoordinationError("collision", `${what} has an unreadable ${fenceAnnotation}: ${JSON.stringify(text)}`);
}

/** `changed` under our fence, as the successor of exactly `read`: whatever `change` did to the fields that identify it. */
function fencedSuccessor<T extends KubeObject>(changed: T, read: T, lease: Fence): T {
  const fenced = withFence(changed, lease.fence);
  return { ...fenced, metadata: { ...fenced.metadata, ...toObjectIdentity(read) } };
}

function withFence<T extends KubeObject>(object: T, fence: bigint): T {
  const annotations = { ...object.metadata.annotations, [fenceAnnotation]: String(fence) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function toObjectIdentity({ metadata }: KubeObject) {
  const { name, namespace, uid, resourceVersion } = metadata;
  if (!name || !uid || !resourceVersion)
    throw new TypeError(`not an object of an API server: ${JSON.stringify(metadata)}`);
  return { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion };
}
