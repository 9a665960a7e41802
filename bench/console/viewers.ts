import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rowKinds } from "../../src/console/wire.ts";
import { seedIncidents } from "../../test/console/seed-incidents.ts";
import { UpProcess } from "../../test/services/up-process.ts";
import { webhook } from "../gateway/webhook.ts";
import { median } from "../locks/quantile.ts";
import type { Plan } from "./plans.ts";
import type { ViewerOptions } from "./viewers-worker.ts";

const viewers = 100;
const connections = 8;
const alertsPerRequest = 50;
const counts = { open: 1_000, closed: 1_000 };

/** The memory of 100 viewers, and the gateway's throughput while they watch, in turns with none. */
export async function measureViewers(plan: Plan) {
  const up = await UpProcess.start({}, { seed: (dataDir) => seedIncidents(dataDir, counts) });
  try {
    const gateway = gatewayAddress(up);
    await signalsPerSecond(gateway, plan.roundMs);
    const [without, beside]: [number[], number[]] = [[], []];
    const rss: { none: number; watched: number }[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      const none = rssMb(up.pid);
      without.push(await signalsPerSecond(gateway, plan.roundMs));
      const stop = await startViewers(up);
      beside.push(await signalsPerSecond(gateway, plan.roundMs));
      rss.push({ none, watched: rssMb(up.pid) });
      await stop();
    }
    return {
      figures: {
        viewers100RssMb: Math.max(
          0,
          Math.min(...rss.map(({ watched }) => watched)) - Math.min(...rss.map(({ none }) => none)),
        ),
        gatewayThroughputWith100Viewers: median(beside) / median(without),
      },
      calibration: { signalsPerSecond: median(without), signalsPerSecondWith100Viewers: median(beside) },
    };
  } finally {
    await up.discard();
  }
}

interface Gateway {
  readonly url: URL;
  readonly token: string;
}

function gatewayAddress(up: UpProcess): Gateway {
  const [, url = ""] = /gateway +(http:\S+)/.exec(up.screen) ?? [];
  const [, token = ""] = /^local (\S+)$/m.exec(readFileSync(join(up.dataDir, "gateway-tokens"), "utf8")) ?? [];
  return { url: new URL("/api/v1/signals/alertmanager", url), token };
}

/** As many signals as the gateway takes from a few connections, in requests of 50 about known incidents. */
async function signalsPerSecond(gateway: Gateway, durationMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const endsAt = performance.now() + durationMs;
  const body = Buffer.from(webhook(alertsPerRequest));
  let requests = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < endsAt) {
        if (await isTaken(gateway, body, agent)) requests++;
        else await wait(50);
      }
    }),
  );
  agent.destroy();
  return (1_000 * requests * alertsPerRequest) / (performance.now() - startedAt);
}

/** False for 503: the gateway asks to send it again. */
function isTaken({ url, token }: Gateway, body: Buffer, agent: Agent): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": body.length,
    };
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      response.resume();
      response.once("end", () => {
        const { statusCode = 0 } = response;
        if (statusCode < 300 || statusCode === 503) resolve(statusCode !== 503);
        else reject(new Error(`the gateway responded with ${statusCode}`));
      });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

/** In a process of their own: what it costs to read the streams is not the server's. */
async function startViewers(up: UpProcess): Promise<() => Promise<void>> {
  const [, origin = ""] = /console +(http:\/\/[^/\s]+)/.exec(up.screen) ?? [];
  const token = readFileSync(join(up.dataDir, "token"), "utf8").trim();
  const options: ViewerOptions = { url: `${origin}/api/v1/stream?kinds=${rowKinds.join(",")}`, token, viewers };
  const file = fileURLToPath(new URL("./viewers-worker.ts", import.meta.url));
  const child: ChildProcess = fork(file, [JSON.stringify(options)], { execArgv: ["--import", "tsx"] });
  const died = once(child, "exit").then(([code, signal]) => {
    throw new Error(`the viewers ended with ${code ?? signal} before they watched`);
  });
  died.catch(() => {});
  await Promise.race([once(child, "message"), died]);
  return async () => {
    child.kill();
    await once(child, "exit");
  };
}

function rssMb(pid: number): number {
  const [, kb = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kb) / 1_024;
}
