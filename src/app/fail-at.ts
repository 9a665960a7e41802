import type { KubeClient } from "../kube/index.ts";

/**
 * Lets something happen to the process before its `n`-th write, or after it if `text` is `n+`. For tests that show that
 * a crash or a pause at any point leaves nothing behind that other processes cannot make good.
 */
export function failAt(client: KubeClient, text: string, happen: () => void): KubeClient {
  const [, digits, plus] = /^(\d+)(\+?)$/.exec(text) ?? [];
  if (digits === undefined) throw new TypeError(`the number of a write is wanted, such as 7 or 7+, got ${text}`);
  let left = Number(digits);
  async function writing<T>(write: () => Promise<T>): Promise<T> {
    const isLast = --left === 0;
    if (isLast && !plus) happen();
    const answer = await write();
    if (isLast && plus) happen();
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
