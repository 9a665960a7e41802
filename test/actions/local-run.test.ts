import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeClient } from "../../src/kube/index.ts";
import { workflowExecutions } from "../../src/resources/index.ts";
import { until } from "../executor/processes/until.ts";
import { UpProcess } from "../services/up-process.ts";
import { types, workloadControllers } from "./workload-controllers.ts";

const namespaces = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

describe("an action as a run of the local engine", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "interlock-action-"));
  const localKubeconfig = join(folder, "kubeconfig");
  let up: UpProcess;
  let client: KubeClient;
  let controllers: ReturnType<typeof workloadControllers>;

  beforeAll(async () => {
    const workflowsDir = join(import.meta.dirname, "../../workflows");
    up = await UpProcess.start({}, { settings: { execution: { workflowsDir, localKubeconfig } } });
    client = await up.client();
    controllers = workloadControllers(client);
    await client.create(namespaces, { metadata: { name: "payment" } });
    const labels = { app: "web" };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: "main", image: "registry.invalid/works" }] },
    };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    await client.create(types.deployments, { metadata: { namespace: "payment", name: "web" }, spec });
  }, 60_000);
  afterAll(async () => {
    await controllers.stop();
    await up.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("fails before it changes anything without a kubeconfig, and succeeds with one", async () => {
    const failed = await run("first");
    const { out: why } = await up.interlock("logs", failed.metadata.name ?? "");
    expect(failed.status).toMatchObject({ phase: "Failed" });
    expect(why).toContain("kubeconfig");
    expect(await restartedAt()).toBeUndefined();

    copyFileSync(join(up.dataDir, "kubeconfig"), localKubeconfig);
    const uid = failed.metadata.name ?? "";
    await up.interlock("ack", uid, "--reason", "the kubeconfig is there now");
    const completed = await run("second");

    const { out } = await up.interlock("logs", completed.metadata.name ?? "");
    expect(completed.status, out).toMatchObject({ phase: "Completed" });
    expect(out).toContain("payment/deployment/web was restarted");
    expect(await restartedAt()).toBeDefined();
    const deployment = await client.get(types.deployments, { namespace: "payment", name: "web" });
    expect(deployment?.metadata.annotations).toHaveProperty("kubernaut.ai/fence");
  });

  /** Runs restart-rollout, and waits for the end of its execution. */
  async function run(which: string) {
    const before = new Set((await executions()).map(({ metadata }) => metadata.uid));
    await up.interlock("run", "restart-rollout", "--target", "payment/deployment/web");
    return await until(`the ${which} execution has ended`, async () => {
      const own = (await executions()).find(({ metadata }) => !before.has(metadata.uid));
      const phase = own?.status?.phase;
      return phase === "Completed" || phase === "Failed" || phase === "Skipped" ? own : undefined;
    });
  }

  async function executions() {
    return (await client.list(workflowExecutions)).items;
  }

  async function restartedAt(): Promise<string | undefined> {
    const deployment = await client.get(types.deployments, { namespace: "payment", name: "web" });
    return deployment?.spec.template.metadata.annotations?.["kubectl.kubernetes.io/restartedAt"];
  }
});
