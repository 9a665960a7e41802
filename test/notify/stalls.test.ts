import { expect, it } from "vitest";
import { memoryLocks } from "../../src/coordination/index.ts";
import { type KubeClient, KubeError, kubeEvents } from "../../src/kube/index.ts";
import { memoryLedger } from "../../src/ledger/index.ts";
import { startNotifier } from "../../src/notify/index.ts";
import { installCrds, notificationRequests } from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { testCluster } from "../doubles/test-cluster.ts";

it("a notifier that cannot write the status of a notice reports it in an Event, metrics and readiness", async () => {
  const clock = new ManualClock();
  const random = systemRandom();
  const inner = testCluster({ clock, random, namespaces: ["kubernaut-system"] }).client();
  await installCrds(inner);
  const permitted = permittedClient(inner, "notify");
  const client: KubeClient = {
    ...permitted,
    async update() {
      throw new KubeError("forbidden", "cannot update notificationrequests/status");
    },
  };
  const metrics = promMetrics();
  const notifier = startNotifier({
    client,
    locks: memoryLocks({ clock, random, who: "test" }),
    ledger: memoryLedger(),
    channels: [],
    routes: [],
    settings: {
      digestWindowMs: 60_000,
      maxAttempts: 3,
      backoff: { baseMs: 1_000, maxMs: 10_000, jitter: 0 },
      retentionMs: 3_600_000,
    },
    timeoutMs: 1_000,
    clock,
    random,
    log: recordingLogger(),
    metrics,
  });
  const { apiVersion, kind } = notificationRequests;
  await inner.create(notificationRequests, {
    apiVersion,
    kind,
    metadata: { name: "a", namespace: "kubernaut-system" },
    spec: { eventType: "WorkflowFailed", severity: "warning", message: "It failed" },
  });
  for (let i = 0; i < 13; i++) {
    await clock.advance(10_000);
    await settle();
  }

  const { items } = await inner.list(kubeEvents);
  expect(items.map(({ reason, involvedObject }) => [reason, involvedObject.name])).toContainEqual(["Stalled", "a"]);
  expect(notifier.problem).toContain("cannot update notificationrequests/status");
  expect(await metrics.text()).toMatch(/notify_stalled_objects\{reason="Forbidden"\} [12]/);
  const stopped = notifier.stop();
  await clock.advance(10_000);
  await stopped;
});
