import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { openClient } from "../../src/app/index.ts";
import { installCrds, type RemediationRequest } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { Dice } from "../chaos/dice.ts";
import { until } from "../executor/processes/until.ts";
import { StageProcess } from "../remediation/stage-process.ts";
import { startApiServer } from "../services/api-server.ts";
import { interlockProgram } from "../services/program.ts";
import { startPagerduty } from "./doubles/pagerduty.ts";
import { startSlack } from "./doubles/slack.ts";
import { NotifierWorld } from "./notifier-world.ts";

const incidents = 15;
const routingKey = "0123456789abcdef0123456789abcdef";

it("every incident is one thread and one alert, which are resolved, while the delivering replicas are killed", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const dice = new Dice(seed);
  const directory = mkdtempSync(join(tmpdir(), "interlock-threads-killed-"));
  const program = await interlockProgram();
  await using api = await startApiServer();
  await using pagerduty = await startPagerduty({ routingKey });
  await using slack = await startSlack({ token: "xoxb-1", channel: "C024BE91L" });
  const [clock, random] = [systemClock(), systemRandom()];
  const client = await openClient(api.kubeconfigFile, { env: process.env, clock, random });
  await installCrds(client);
  const config = join(directory, "config.yaml");
  const notify = {
    console: false,
    pagerdutyRoutingKey: routingKey,
    pagerdutyUrl: `http://127.0.0.1:${pagerduty.port}`,
    slackToken: "xoxb-1",
    slackChannel: "C024BE91L",
    slackApiUrl: `http://127.0.0.1:${slack.port}/api`,
    allowedNetworks: "127.0.0.0/8",
    backoff: { base: "10ms" },
    maxAttempts: 20,
  };
  writeFileSync(config, stringify({ locks: { ttl: "1s" }, ledger: { dir: join(directory, "ledger") }, notify }));
  const replicas = [0, 1].map((i) => {
    const own = ["--kubeconfig", api.kubeconfigFile, "--data", join(directory, `notify-${i}`), "--config", config];
    const env = { METRICS_LISTEN: "127.0.0.1:0" };
    const logFile = join(directory, "notify.log");
    return new StageProcess(`notify-${i}`, { args: [program, "notify", ...own], env, logFile });
  });
  for (const replica of replicas) replica.start();
  const world = new NotifierWorld(client);
  const faults = () => Array.from({ length: 30 }, () => (dice.chance(0.3) ? { kind: "lost-response" as const } : none));
  pagerduty.faults = faults();
  slack.faults = faults();

  const opened: RemediationRequest[] = [];
  let kills = 0;
  for (let i = 0; i < incidents; i++) {
    const incident = await world.openIncident();
    opened.push(incident);
    await world.notify(incident);
    await world.notify(incident, { eventType: "ManualReviewRequired", severity: "critical", message: "Look" });
    if (i % 3 > 0) continue;
    await wait(dice.between(0, 500));
    const victim = dice.pick(replicas);
    await victim.kill();
    kills++;
    victim.start();
  }
  for (const incident of opened) await world.closeIncident(incident);
  await until(
    "all are settled, and every incident is resolved",
    async () => {
      const notices = await world.notices();
      return notices.length === 3 * incidents && notices.every(({ status }) => status && "completionTime" in status);
    },
    { withinMs: 120_000 },
  );
  for (const replica of replicas) await replica.kill();

  for (const service of [pagerduty, slack]) {
    expect(service.rejections, `seed ${seed}`).toEqual([]);
    const conversations = service.conversations();
    expect(
      conversations.filter(({ isResolved }) => isResolved),
      `seed ${seed}`,
    ).toHaveLength(incidents);
    expect(conversations, `seed ${seed}`).toHaveLength(incidents);
  }
  expect(kills).toBeGreaterThan(0);
  rmSync(directory, { recursive: true, force: true });
}, 240_000);

const none = { kind: "none" as const };
