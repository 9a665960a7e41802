import { expect, it } from "vitest";
import { engineContract } from "../../src/engines/engine.contract.ts";
import { jobEngine } from "../../src/engines/index.ts";
import type { KubeObject, ResourceType } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { jobController } from "../doubles/job-controller.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { openBench } from "./bench.ts";
import { runOrder } from "./run-order.ts";

engineContract("job", () =>
  openBench({ engine: jobEngine, double: (options, images) => jobController({ ...options, images }) }),
);

it("a Job is refused while its service account does not exist", async () => {
  const order = runOrder({ workflow: { ...runOrder().workflow, serviceAccountName: "restarter" } });
  const { namespace } = order;
  const client = testCluster({ clock: systemClock(), random: systemRandom(), namespaces: [namespace] }).client();
  const engine = jobEngine(client);

  const early = await engine.prepare(order);
  await client.create(serviceAccounts, { metadata: { name: "restarter", namespace } });
  const late = await engine.prepare(order);

  expect(early).toEqual({
    kind: "refused",
    reason: "ServiceAccountMissing",
    message: `the service account ${namespace}/restarter does not exist`,
  });
  expect(late).toMatchObject({ kind: "prepared", run: { metadata: { name: order.name } } });
});

const serviceAccounts: ResourceType<KubeObject> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};
