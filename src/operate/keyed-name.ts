import { nameHash } from "../kube/index.ts";
import type { Order } from "./operation.ts";

/** Short enough to type. Whether a name that is taken belongs to the same request is checked by its content. */
const hashLength = 12;

/** The name of the object that a request creates: the same for the same caller and key, so the second create fails. */
export function keyedName(prefix: string, { caller, request }: Order<{ readonly key: string }>): string {
  return `${prefix}-${nameHash(JSON.stringify([caller.name, request.key])).slice(0, hashLength)}`;
}
