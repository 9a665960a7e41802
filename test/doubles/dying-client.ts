import { type KubeClient, KubeError } from "../../src/kube/index.ts";

/** Where a process dies: before or after its `write`-th write, counted from 1. After: the write happened, its answer was lost. */
export interface Death {
  readonly write: number;
  readonly when: "before" | "after";
}

export interface DyingClient extends KubeClient {
  /** Whether it came to that. */
  readonly isDead: boolean;
}

/** A client whose process dies at a write. From then on nothing it asks for happens, and nothing is answered. */
export function dyingClient(client: KubeClient, { write, when }: Death): DyingClient {
  let writes = 0;
  let isDead = false;
  const never = () => new Promise<never>(() => {});

  async function writing<T>(act: () => Promise<T>): Promise<T> {
    if (isDead) return never();
    if (++writes !== write) return act();
    isDead = true;
    if (when === "after") await act();
    return never();
  }
  const reading = <T>(act: () => Promise<T>): Promise<T> => (isDead ? never() : act());

  return {
    get isDead() {
      return isDead;
    },
    get: (...call) => reading(() => client.get(...call)),
    list: (...call) => reading(() => client.list(...call)),
    create: (...call) => writing(() => client.create(...call)),
    update: (...call) => writing(() => client.update(...call)),
    patch: (...call) => writing(() => client.patch(...call)),
    delete: (...call) => writing(() => client.delete(...call)),
    evict: (...call) => writing(() => client.evict(...call)),
    watch(type, query, call) {
      if (isDead) throw new KubeError("unavailable", "the process is dead");
      return client.watch(type, query, call);
    },
    serverNowMs: () => client.serverNowMs(),
  };
}
