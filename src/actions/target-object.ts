import type { KubeObject, ObjectMeta, ResourceType } from "../kube/index.ts";
import { builtInKinds, type ObjectTarget, toResourceType } from "../resources/index.ts";
import type { ActionInputs, Reader, Write } from "./action.ts";

/** The resource type of a target, which is of a built-in kind. */
export function targetType<T extends KubeObject>(target: ObjectTarget): ResourceType<T> {
  const type = toResourceType(target, undefined, builtInKinds);
  if (!type) throw new TypeError(`${target.text} is not of a built-in kind`);
  return type as ResourceType<T>;
}

/** Reads the target; undefined if it does not exist. */
export async function readTarget<T extends KubeObject>(target: ObjectTarget, reader: Reader): Promise<T | undefined> {
  const { name, namespace } = target;
  return await reader.get(targetType<T>(target), namespace === undefined ? { name } : { name, namespace });
}

/** The snapshot of an action that reads only its target. */
export interface TargetSnapshot<T extends KubeObject> {
  readonly target: T | undefined;
}

export async function observeTarget<T extends KubeObject>(
  { target }: ActionInputs,
  reader: Reader,
): Promise<TargetSnapshot<T>> {
  return { target: await readTarget<T>(target, reader) };
}

interface TargetChange {
  readonly observed: KubeObject;
  readonly next: KubeObject;
  /** The change for the log, such as "restart a/deployment/b". */
  readonly text: string;
}

export function updateTarget(target: ObjectTarget, change: TargetChange): Write {
  return { do: "update", type: targetType(target), ...change };
}

/** Annotation of objects that an action changed or created: the uid of the execution. */
export const actedBy = "kubernaut.ai/acted-by";

/** Whether this execution has already made its change: an action that is repeated after a crash must not make it twice. */
export function hasActed({ metadata }: Pick<KubeObject, "metadata">, executionUid: string): boolean {
  return metadata.annotations?.[actedBy] === executionUid;
}

/** Returns the metadata with changed annotations; undefined removes one. */
export function annotate(metadata: ObjectMeta, changes: Readonly<Record<string, string | undefined>>): ObjectMeta {
  const annotations = { ...metadata.annotations };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete annotations[name];
    else annotations[name] = value;
  }
  return { ...metadata, annotations };
}
