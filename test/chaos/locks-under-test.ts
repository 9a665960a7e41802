import { kubernetesLocks, type Locks, RedisConnection, redisLocks } from "../../src/coordination/index.ts";
import { fromKubeconfig, httpClient } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type Defect, defectiveLocks } from "./defective-locks.ts";
import { sleepMs } from "./sleep-ms.ts";

export type { Defect } from "./defective-locks.ts";

/** Which locks a worker uses. Another one needs a case here and a `Server` for the driver. */
export type Backend = "redis" | "sentinel" | "kubernetes";

/** Where the Leases are, if the locks are Leases. */
export const leasePlace = { namespace: "default", prefix: "chaos-lock-" };

export interface LocksUnderTestOptions {
  readonly worker: string;
  readonly maxTtlMs: number;
  readonly commandTimeoutMs: number;
  readonly defect?: Defect;
}

/** Locks of `backend` at `url`, which for Kubernetes is a kubeconfig file. */
export async function openLocks(
  backend: Backend,
  url: string,
  options: LocksUnderTestOptions,
  signal?: AbortSignal,
): Promise<Locks> {
  const open = () => {
    switch (backend) {
      case "redis":
      case "sentinel":
        return openRedisLocks(url, options, signal);
      case "kubernetes":
        return openKubernetesLocks(url, options);
    }
  };
  return options.defect ? defectiveLocks(options.defect, url, open) : open();
}

/** Once it can be reached. */
async function openRedisLocks(url: string, options: LocksUnderTestOptions, signal: AbortSignal | undefined) {
  const { worker, maxTtlMs, commandTimeoutMs } = options;
  const random = systemRandom();
  while (true) {
    const connection = new RedisConnection({ url, clock: systemClock(), random, name: worker, commandTimeoutMs });
    const defaults = { ttlMs: maxTtlMs };
    const locks = redisLocks({ connection, clock: systemClock(), random, who: worker, maxTtlMs: maxTtlMs, defaults });
    try {
      await connection.connect();
      return locks;
    } catch (error) {
      // Born into an outage: only the first connection has to be made by hand.
      if (signal?.aborted) return locks;
      await locks.close();
      if (!signal) throw error;
      await sleepMs(50);
    }
  }
}

async function openKubernetesLocks(path: string, { worker, commandTimeoutMs }: LocksUnderTestOptions): Promise<Locks> {
  const [clock, random] = [systemClock(), systemRandom()];
  const limits = { connectMs: commandTimeoutMs, headersMs: commandTimeoutMs, callMs: commandTimeoutMs };
  const client = httpClient({ connection: await fromKubeconfig({ path, env: process.env }), clock, random, limits });
  return kubernetesLocks({ client, clock, random, who: worker, ...leasePlace });
}
