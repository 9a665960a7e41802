import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { openClient } from "../../src/app/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { readLedger, verifyLedger } from "../../src/ledger/index.ts";
import { installCrds, notificationRequests } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { Dice } from "../chaos/dice.ts";
import { until } from "../executor/processes/until.ts";
import { StageProcess } from "../remediation/stage-process.ts";
import { startApiServer } from "../services/api-server.ts";
import { freePort } from "../services/free-port.ts";
import { interlockProgram } from "../services/program.ts";
import { startReceiver } from "./receiver.ts";

const notices = 100;
const namespace = "kubernaut-system";

it("notices arrive at least once and are settled once while the delivering replicas are killed", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const dice = new Dice(seed);
  const directory = mkdtempSync(join(tmpdir(), "interlock-notify-killed-"));
  const program = await interlockProgram();
  await using api = await startApiServer();
  await using receiver = await startReceiver();
  const client = await openClient(api.kubeconfigFile, {
    env: process.env,
    clock: systemClock(),
    random: systemRandom(),
  });
  await installCrds(client);
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const config = join(directory, "config.yaml");
  writeFileSync(config, stringify(configOf(directory, receiver.port)));
  const replicas = ports.map((port, i) => {
    const own = ["--kubeconfig", api.kubeconfigFile, "--data", join(directory, `notify-${i}`), "--config", config];
    const env = { METRICS_LISTEN: `127.0.0.1:${port}` };
    const logFile = join(directory, "notify.log");
    return new StageProcess(`notify-${i}`, { args: [program, "notify", ...own], env, logFile });
  });
  for (const replica of replicas) replica.start();
  await until("all of them are ready", async () => {
    const answers = await Promise.all(
      ports.map((port) => fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)),
    );
    return answers.every((answer) => answer?.status === 200);
  });
  // Some are taken, and the answer is lost; some have to be sent again.
  receiver.answers = Array.from({ length: 5 * notices }, () =>
    dice.chance(0.1) ? "hang-up" : dice.chance(0.1) ? 503 : 200,
  );

  const uids: string[] = [];
  let kills = 0;
  for (let i = 0; i < notices; i++) {
    uids.push(await request(client, i));
    if (!dice.chance(0.12)) continue;
    await wait(dice.between(0, 200));
    const victim = dice.pick(replicas);
    await victim.kill();
    kills++;
    victim.start();
  }
  const settled = await until("all are settled", () => settledNotices(client), { withinMs: 120_000 }).catch((error) => {
    throw new Error(`${error.message}\n${readFileSync(join(directory, "notify.log"), "utf8").slice(-5_000)}`);
  });
  for (const replica of replicas) await replica.kill();

  expect(
    settled.map(({ status }) => status?.phase),
    `seed ${seed}`,
  ).toEqual(Array(notices).fill("Sent"));
  const keys = receiver.letters.map(({ headers }) => String(headers["idempotency-key"]));
  expect([...new Set(keys)].sort(), `seed ${seed}`).toEqual(uids.sort());
  const successes = settled.map(({ status }) => status?.deliveryAttempts?.filter(({ status }) => status === "success"));
  expect(successes.map((list) => list?.length)).toEqual(Array(notices).fill(1));
  const sent = new Set<string>();
  for await (const { id, type } of readLedger(join(directory, "ledger"))) if (type === "notice.sent") sent.add(id);
  expect([...sent].sort()).toEqual(uids.map((uid) => `${uid}/notice.sent`));
  expect((await verifyLedger(join(directory, "ledger"))).problems).toEqual([]);
  expect(kills).toBeGreaterThan(0);
  rmSync(directory, { recursive: true, force: true });
}, 240_000);

function configOf(directory: string, port: number) {
  return {
    locks: { ttl: "1s" },
    ledger: { dir: join(directory, "ledger") },
    notify: {
      console: false,
      webhookUrl: `http://127.0.0.1:${port}/notices`,
      allowedNetworks: "127.0.0.0/8",
      backoff: { base: "10ms" },
      maxAttempts: 20,
    },
  };
}

async function request(client: KubeClient, i: number): Promise<string> {
  const { apiVersion, kind } = notificationRequests;
  const outcome = await client.create(notificationRequests, {
    apiVersion,
    kind,
    metadata: { name: `notice-${i}`, namespace },
    spec: { eventType: "WorkflowFailed", severity: "warning", message: "It failed" },
  });
  if (outcome.kind !== "created") throw new Error("it was there already");
  return outcome.object.metadata.uid ?? "";
}

async function settledNotices(client: KubeClient) {
  const { items } = await client.list(notificationRequests);
  return items.every(({ status }) => status && "completionTime" in status) ? items : undefined;
}
