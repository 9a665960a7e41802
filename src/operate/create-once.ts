import { isDeepStrictEqual } from "node:util";
import { type KubeObject, nameHash, type ResourceType, refOf } from "../kube/index.ts";
import { OperationError } from "./errors/index.ts";
import type { OperationCall } from "./operation.ts";

type CreateRequest = { readonly dryRun?: boolean };

/**
 * Creates an object whose name is derived from the key of the request. If it exists, an earlier attempt of the same request
 * created it, and that one is returned. `contentOf` selects what must be equal for two requests to be the same.
 */
export async function createOnce<T extends KubeObject>(
  type: ResourceType<T>,
  draft: T,
  { request, context: { client } }: OperationCall<CreateRequest>,
  contentOf: (object: T) => unknown,
): Promise<T> {
  const outcome = await client.create(type, draft, { dryRun: request.dryRun ?? false });
  if (outcome.kind === "created") return outcome.object;
  const existing = await client.get(type, refOf(draft));
  if (existing && isDeepStrictEqual(contentOf(existing), contentOf(draft))) return existing;
  if (existing) {
    const message = `the key was used already for another request, which created ${draft.metadata.name}`;
    throw new OperationError("conflict", message, { hint: "send this one with a new key", current: existing });
  }
  throw new OperationError("conflict", `${draft.metadata.name} was deleted in the meantime`, { hint: "try again" });
}

/** Short enough to type. If the name is taken, the content of the object shows whether the request is the same. */
const hashLength = 12;

/** The name of the object that a request creates: the same for the same caller and key, so the second create fails. */
export function keyedName(prefix: string, { caller, request }: OperationCall<{ readonly key: string }>): string {
  return `${prefix}-${nameHash(JSON.stringify([caller.name, request.key])).slice(0, hashLength)}`;
}
