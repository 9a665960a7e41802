import { openApi } from "../../src/apiserver/api/open-api.ts";
import { embeddedClient } from "../../src/apiserver/index.ts";
import type { ObjectStore } from "../../src/apiserver/object-store.ts";
import { keyOf } from "../../src/coordination/key.ts";
import { kubernetesLocks } from "../../src/coordination/kubernetes/kubernetes-locks.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../../test/doubles/volatile-store.ts";
import { printTable } from "../locks/table.ts";
import type { Measured } from "./embedded-store.ts";

const cycles = 100;

/** What an uncontended acquire and release of a Lease lock writes, counted where it is stored. */
export async function measureLeaseWrites(): Promise<Measured> {
  const parts = { clock: systemClock(), random: systemRandom() };
  const counted = countingWrites(volatileStore());
  const api = await openApi({ ...parts, store: counted.store });
  const client = embeddedClient(api);
  const locks = kubernetesLocks({ ...parts, client, namespace: "default", prefix: "bench-lock-", who: "bench" });
  const before = counted.writes();
  for (let i = 0; i < cycles; i++) {
    const lease = await locks.acquire(keyOf("bench"));
    await lease.release();
  }
  const leaseCycleWrites = (counted.writes() - before) / cycles;
  await locks.close();
  api.close();
  printTable("Lease lock", ["", ""], [["writes per acquire and release", leaseCycleWrites]]);
  // Below two it cannot be: one write to take it, one to give it back.
  return { figures: { leaseCycleWrites }, calibration: { fewestLeaseCycleWrites: 2 } };
}

function countingWrites(store: ObjectStore): { store: ObjectStore; writes(): number } {
  let writes = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      if (name !== "write") return bound(target, name);
      return (key: Parameters<ObjectStore["write"]>[0], decide: Parameters<ObjectStore["write"]>[1]) =>
        target.write(key, (current, revision) => {
          const decision = decide(current, revision);
          if (decision.do !== "nothing") writes++;
          return decision;
        });
    },
  });
  return { store: counting, writes: () => writes };
}

function bound(target: ObjectStore, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === "function" ? value.bind(target) : value;
}
