import { afterAll, beforeAll } from "vitest";
import { claimsOver } from "../../src/coordination/claims/claim-client.ts";
import { claimsContract } from "../../src/coordination/claims/claims.contract.ts";
import { keyName } from "../../src/coordination/key.ts";
import { kubernetesClaimStore } from "../../src/coordination/kubernetes/kubernetes-claims.ts";
import { kubernetesWatermarks } from "../../src/coordination/kubernetes/kubernetes-watermarks.ts";
import { locksContract } from "../../src/coordination/locks/locks.contract.ts";
import { watermarksContract } from "../../src/coordination/watermarks/watermarks.contract.ts";
import type { Connection } from "../../src/kube/connection/connection.ts";
import { fromKubeconfig } from "../../src/kube/connection/kubeconfig.ts";
import { httpClient } from "../../src/kube/http/http-client.ts";
import { type KubeClient, leases } from "../../src/kube/index.ts";
import { sleep, systemClock, systemRandom } from "../../src/time/index.ts";
import { apiServerAbilities, apiServerLockBench, freshNamespace } from "../coordination/api-server-bench.ts";
import type { ClaimsBackend } from "../coordination/claim-world.ts";
import { type ApiServer, startApiServer } from "../services/api-server.ts";

// Never KUBECONFIG: what a developer's shell points at is not for tests.
const { TEST_KUBECONFIG: given } = process.env;
const where = given ? "the cluster of TEST_KUBECONFIG" : "interlock api";
const clock = systemClock();
const random = systemRandom();

let ours: ApiServer | undefined;
let connection: Connection;
/** A server sends its time in whole seconds; a more precise time needs several of its responses. */
let punctual: KubeClient;

beforeAll(async () => {
  if (!given) ours = await startApiServer();
  connection = await fromKubeconfig({ path: given ?? (ours as ApiServer).kubeconfigFile, env: process.env });
  punctual = connect();
  for (let looks = 0; looks < 24; looks++) {
    await punctual.get(leases, { namespace: "default", name: "none" });
    await sleep(clock, 50);
  }
});
afterAll(() => ours?.stop());

// Locks and claims are about time, and here that is real: too much of it for every run, and a busy machine is late. On
// virtual time the same cases run in every run, see src/coordination/kubernetes.
if (given) {
  locksContract(where, () => apiServerLockBench(connect), { abilities: apiServerAbilities, concurrent: true });
  claimsContract(where, claimsBackend);
}
watermarksContract(where, async () => {
  const client = connect();
  const { namespace, remove } = await freshNamespace(client);
  return { connect: async () => kubernetesWatermarks({ client: connect(), namespace }), stop: remove };
});

function connect(): KubeClient {
  return httpClient({ connection, clock, random });
}

async function claimsBackend(): Promise<ClaimsBackend> {
  const admin = connect();
  const { namespace, remove } = await freshNamespace(admin);
  return {
    clock,
    // The cases allow for a delay of half a lease.
    leaseMs: 3_000,
    pass: (ms) => sleep(clock, ms),
    connect: ({ through, ...setup }) => {
      const store = kubernetesClaimStore({ client: punctual, clock: setup.clock, namespace });
      return claimsOver(through(store), { ...setup, random });
    },
    async forget(key) {
      await admin.delete(leases, { namespace, name: `claim-${keyName(key)}` });
    },
    stop: remove,
  };
}
