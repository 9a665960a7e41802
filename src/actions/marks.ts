import type { KubeObject, ObjectMeta } from "../kube/index.ts";

/** On what an action changed or created: uid of the execution that did it. */
export const actedBy = "kubernaut.ai/acted-by";

/** Whether this execution has already made its change: an action that is repeated after a crash must not make it twice. */
export function hasActed({ metadata }: Pick<KubeObject, "metadata">, executionUid: string): boolean {
  return metadata.annotations?.[actedBy] === executionUid;
}

/** The metadata with annotations added or, with undefined, removed. */
export function annotate(metadata: ObjectMeta, changes: Readonly<Record<string, string | undefined>>): ObjectMeta {
  const annotations = { ...metadata.annotations };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete annotations[name];
    else annotations[name] = value;
  }
  return { ...metadata, annotations };
}
