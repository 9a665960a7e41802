import { join } from "node:path";
import { kubernetesClaims, kubernetesLocks } from "../../src/coordination/index.ts";
import { taskDesk } from "../../src/gateway/index.ts";
import { namespaces } from "../../src/kube/index.ts";
import { gitlabWebhooks } from "../../src/sources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { clock, openWorkbench } from "../executor/workbench.ts";
import { gitlabPath, gitlabSecret } from "./gitlab-webhook.ts";
import type { Senders } from "./load.ts";
import { gatewayOn, namespace } from "./servers.ts";

/** 200 webhooks a second, each a new task: its claim, the task and the record of it are on disk before it is answered. */
export async function webhookP99MsAt200(folder: string, senders: Senders, seconds: number): Promise<number> {
  const bench = await openWorkbench(folder);
  const { client, ledger } = bench;
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const shared = { client, clock, random: systemRandom(), who: "bench", namespace };
  const [locks, claims] = [kubernetesLocks({ ...shared, prefix: "gw-lock-" }), kubernetesClaims(shared)];
  const gateway = await gatewayOn({
    client,
    locks,
    ledger,
    folder: join(folder, "gateway"),
    tasks: {
      paths: [gitlabPath],
      reader: gitlabWebhooks({ host: "gitlab.example.com", reviewDrafts: false, skipLabels: [] }),
      secret: gitlabSecret,
      networks: [],
      desk: taskDesk({
        client,
        claims,
        ledger,
        namespace,
        rememberMs: 86_400_000,
        log: silentLogger,
        metrics: promMetrics(),
      }),
    },
  });
  const load = { port: gateway.port, alerts: 0, connections: 50, perSecond: 200 };
  // The first ones warm up.
  await senders.send({ ...load, requests: 400 });
  const { p99Ms } = await senders.send({ ...load, requests: 200 * seconds, first: 400 });
  await gateway.close();
  await claims.close();
  await locks.close();
  await bench.close();
  return p99Ms;
}
