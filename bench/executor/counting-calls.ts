import type { KubeClient } from "../../src/kube/index.ts";

/** Calls so far. Kubernetes Events are counted apart: nothing waits for them. */
export interface Counted {
  reads: number;
  writes: number;
  events: number;
}

export function countingCalls(client: KubeClient): { readonly client: KubeClient; readonly counted: Counted } {
  const counted: Counted = { reads: 0, writes: 0, events: 0 };
  const wrote = ({ kind }: { readonly kind: string }) => {
    if (kind === "Event") counted.events++;
    else counted.writes++;
  };
  return {
    counted,
    client: {
      ...client,
      get: (...call) => {
        counted.reads++;
        return client.get(...call);
      },
      list: (...call) => {
        counted.reads++;
        return client.list(...call);
      },
      create: (...call) => {
        wrote(call[0]);
        return client.create(...call);
      },
      update: (...call) => {
        wrote(call[0]);
        return client.update(...call);
      },
      patch: (...call) => {
        wrote(call[0]);
        return client.patch(...call);
      },
      delete: (...call) => {
        wrote(call[0]);
        return client.delete(...call);
      },
    },
  };
}
