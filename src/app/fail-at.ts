import type { KubeClient } from "../kube/index.ts";

/**
 * Ends the process before its `n`-th write, or after it if `text` is `n+`. For tests that show that a crash at any point
 * leaves nothing behind that the next process cannot make good.
 */
export function failAt(client: KubeClient, text: string, die: () => never): KubeClient {
  const [, digits, plus] = /^(\d+)(\+?)$/.exec(text) ?? [];
  if (digits === undefined) throw new TypeError(`INTERLOCK_FAIL_AT wants a number such as 7 or 7+, got ${text}`);
  let left = Number(digits);
  async function writing<T>(write: () => Promise<T>): Promise<T> {
    const isLast = --left === 0;
    if (isLast && !plus) die();
    const answer = await write();
    if (isLast) die();
    return answer;
  }
  return {
    ...client,
    create: (...call) => writing(() => client.create(...call)),
    update: (...call) => writing(() => client.update(...call)),
    patch: (...call) => writing(() => client.patch(...call)),
    delete: (...call) => writing(() => client.delete(...call)),
  };
}
