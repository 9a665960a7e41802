import { join } from "node:path";
import { kubernetesLocks } from "../../src/coordination/index.ts";
import { type KubeClient, namespaces } from "../../src/kube/index.ts";
import { startOrchestrator } from "../../src/orchestrator/index.ts";
import { defaultPolicy, diagnose, type Rule } from "../../src/policy/index.ts";
import { builtInKinds, executionNamespace, fixedKinds, remediationWorkflows } from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { sleep, systemRandom } from "../../src/time/index.ts";
import { clock, openWorkbench } from "../executor/workbench.ts";
import { quantile } from "../locks/quantile.ts";
import { gatewayOn, namespace } from "./servers.ts";
import { path, token, webhook } from "./webhook.ts";

const rule: Rule = { name: "disk", match: { signalName: "NodeFilesystemFull" }, workflow: "cleanup" };

/** One alert after the other, from the request to the start of its run: all stages, everything durable. */
export async function signalToRunMs(folder: string, signals: number): Promise<number> {
  const bench = await openWorkbench(folder);
  const { client, ledger, tekton } = bench;
  await prepare(client);
  await bench.start();
  const random = systemRandom();
  const locksFor = (prefix: string) => kubernetesLocks({ client, clock, random, who: "bench", namespace, prefix });
  const locks = [locksFor("gw-lock-"), locksFor("ro-lock-")] as const;
  const gateway = await gatewayOn({ client, locks: locks[0], ledger, folder: join(folder, "gateway") });
  const orchestrator = startOrchestrator({
    client,
    analyzer: { analyze: async (spec) => diagnose(spec, [rule], builtInKinds), subscribe: () => () => {} },
    locks: locks[1],
    ledger,
    kinds: fixedKinds(builtInKinds),
    namespace: executionNamespace,
    catalogNamespace: namespace,
    settings: { ...defaultPolicy, ...patient },
    clock,
    random,
    log: silentLogger,
    metrics: promMetrics(),
  });
  await orchestrator.ready;

  const taken: number[] = [];
  for (let i = 0; i < signals; i++) {
    const sentAt = clock.now();
    await post(gateway.port, i);
    while (tekton.startedAt.size <= i) await sleep(clock, 1);
    taken.push(([...tekton.startedAt.values()].at(-1) ?? Number.NaN) - sentAt);
  }
  await orchestrator.stop({ deadlineMs: 5_000 });
  await gateway.close();
  for (const one of locks) await one.close();
  await bench.close();
  // The first ones warm up.
  return quantile(taken.slice(Math.floor(signals / 5)), 0.5);
}

/** Nothing is to be late while we measure. */
const hour = 3_600_000;
export const patient = {
  notifyClosed: false,
  staleAfterMs: hour,
  staleAfterBySource: new Map<string, number>(),
  executionTimeoutMs: hour,
  approvalExpiresAfterMs: hour,
  verification: { graceMs: hour, windowMs: hour },
  retentionMs: 24 * hour,
  engine: "tekton",
} as const;

async function prepare(client: KubeClient): Promise<void> {
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const { apiVersion, kind } = remediationWorkflows;
  await client.create(remediationWorkflows, {
    apiVersion,
    kind,
    metadata: { name: "cleanup-1", namespace },
    spec: {
      workflowId: "cleanup",
      version: "1",
      description: "Removes old files.",
      engine: "tekton",
      containerImage: "registry.invalid/cleanup:1",
      pipeline: "workflow",
    },
  });
}

async function post(port: number, i: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: webhook(1, i),
  });
  if (response.status !== 201) throw new Error(`the gateway answers ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
