import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openClient } from "../../src/app/index.ts";
import { codingTasks } from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { clock } from "../executor/workbench.ts";
import { gitlabSecret } from "../gateway/gitlab-webhook.ts";
import { Senders } from "../gateway/load.ts";
import { median } from "../locks/quantile.ts";
import { bareCreates } from "../store/bare-http.ts";
import { interlock } from "./interlock.ts";
import type { Plan } from "./plans.ts";

/**
 * 200 webhooks a second, each about another merge request or comment, to `interlock gateway` on `interlock api`: its claim,
 * its task and the record of it are on disk before it is answered. The senders are a process of their own, and the time
 * counts from when each was due.
 */
export async function measureWebhooks(folder: string, { webhooks }: Plan) {
  mkdirSync(folder);
  const kubeconfig = join(folder, "kubeconfig");
  const apiArgs = ["api", "--data", join(folder, "api"), "--listen", "127.0.0.1:0", "--kubeconfig-out", kubeconfig];
  const api = await interlock(apiArgs, {}, /is running/);
  const gateway = await interlock(
    ["gateway", "--kubeconfig", kubeconfig, "--data", join(folder, "gateway")],
    {
      GATEWAY_LISTEN: "127.0.0.1:0",
      GITLAB_URL: "https://gitlab.example.com",
      GITLAB_WEBHOOK_SECRET: gitlabSecret,
      LOG_LEVEL: "error",
    },
    /is running/,
  );
  const [, port = ""] = /signals +http:\/\/[^:]+:(\d+)/.exec(gateway.output) ?? [];
  const bare = await bareCreates(folder);
  const senders = new Senders();
  const requests = 200 * webhooks.seconds;
  const send = async (port: number, first: number) =>
    (await senders.send({ port, alerts: 0, connections: 50, perSecond: 200, requests, first })).p99Ms;
  const cpuMs = () => gateway.cpuMs() + api.cpuMs();
  const samples: { ours: number; cpu: number; bare: number }[] = [];
  for (let round = 0; round <= webhooks.rounds; round++) {
    const before = cpuMs();
    const ours = await send(Number(port), round * requests);
    const cpu = (cpuMs() - before) / requests;
    const sample = { ours, cpu, bare: await send(bare.port, round * requests) };
    // The first one warms up.
    if (round > 0) samples.push(sample);
  }
  const tasks = await tasksOn(kubeconfig);
  senders.close();
  await bare.close();
  await gateway.stop();
  await api.stop();
  if (tasks !== requests * (webhooks.rounds + 1)) throw new Error(`only ${tasks} webhooks became tasks`);
  return {
    figures: { webhookP99Ms: median(samples.map(({ ours }) => ours)) },
    calibration: {
      bareWebhookP99Ms: median(samples.map(({ bare }) => bare)),
      webhookCpuMs: median(samples.map(({ cpu }) => cpu)),
    },
  };
}

async function tasksOn(kubeconfig: string): Promise<number> {
  const client = await openClient(kubeconfig, { env: process.env, clock, random: systemRandom() });
  return (await client.list(codingTasks)).items.length;
}
