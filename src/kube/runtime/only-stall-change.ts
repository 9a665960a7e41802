import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../object.ts";

/** The type of the condition that reports that work on an object keeps failing. */
export const stalledCondition = "Stalled";

interface Conditions {
  readonly conditions?: readonly { readonly type: string }[];
}

/** Whether two versions of an object differ only in that condition. */
export function isOnlyStallChange(before: KubeObject, after: KubeObject): boolean {
  const [was, is] = [statusOf(before), statusOf(after)];
  if (isDeepStrictEqual(stalledIn(was), stalledIn(is))) return false;
  return isDeepStrictEqual(withoutStalled(before, was), withoutStalled(after, is));
}

function statusOf(object: KubeObject): Conditions | undefined {
  return (object as { readonly status?: Conditions }).status;
}

function stalledIn(status: Conditions | undefined) {
  return status?.conditions?.find(({ type }) => type === stalledCondition);
}

/** The object without that condition, and without the fields that change with every write. */
function withoutStalled(object: KubeObject, { conditions = [], ...status }: Conditions = {}) {
  const {
    resourceVersion: _,
    managedFields: __,
    ...metadata
  } = object.metadata as KubeObject["metadata"] & {
    readonly managedFields?: unknown;
  };
  return {
    ...object,
    metadata,
    status: { ...status, conditions: conditions.filter(({ type }) => type !== stalledCondition) },
  };
}
