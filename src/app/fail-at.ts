import type { KubeClient, ResourceType } from "../kube/index.ts";

type WriteVerb = "create" | "update" | "patch" | "delete";

/**
 * Calls `happen` before the `n`-th write of the process, or after it if `text` is `n+`. `create jobs 1` counts only those
 * writes. For tests that crash or pause a process at any write.
 */
export function failAt(client: KubeClient, text: string, happen: () => void): KubeClient {
  const [, verb, plural, digits, plus] = /^(?:([a-z]+) ([a-z]+) )?(\d+)(\+?)$/.exec(text) ?? [];
  if (digits === undefined) throw new TypeError(`expected a write such as 7, 7+ or create jobs 1, got ${text}`);
  let left = Number(digits);
  async function writing<T>(done: WriteVerb, type: ResourceType, write: () => Promise<T>): Promise<T> {
    const counts = verb === undefined || (verb === done && plural === type.plural);
    const isLast = counts && --left === 0;
    if (isLast && !plus) happen();
    const outcome = await write();
    if (isLast && plus) happen();
    return outcome;
  }
  return {
    ...client,
    create: (type, ...call) => writing("create", type, () => client.create(type, ...call)),
    update: (type, ...call) => writing("update", type, () => client.update(type, ...call)),
    patch: (type, ...call) => writing("patch", type, () => client.patch(type, ...call)),
    delete: (type, ...call) => writing("delete", type, () => client.delete(type, ...call)),
  };
}
