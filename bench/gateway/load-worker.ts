import { machineMs } from "../locks/machine-time.ts";
import { quantile } from "../locks/quantile.ts";
import { RawConnection } from "../store/raw-connection.ts";
import { gitlabPath, gitlabSecret, gitlabWebhook } from "./gitlab-webhook.ts";
import type { Load, Loaded } from "./load.ts";
import { path, token, webhook } from "./webhook.ts";

process.on("message", async (load: Load) => {
  process.send?.(load.perSecond === undefined ? await flatOut(load) : await paced(load, load.perSecond));
});

/** `requests` over `connections`, each with one at a time. */
async function flatOut({ port, requests, alerts, first = 0, connections }: Load): Promise<Loaded> {
  const texts = alerts === 0 ? gitlabRequests(requests, first) : requestsOf(alerts);
  const open = await Promise.all(Array.from({ length: connections }, () => RawConnection.open(port)));
  const latencies: number[] = [];
  let next = 0;
  const startedAt = machineMs();
  await Promise.all(
    open.map(async (connection) => {
      for (let i = next++; i < requests; i = next++)
        latencies.push(await send(connection, texts[i % texts.length] as string));
    }),
  );
  const ms = machineMs() - startedAt;
  for (const connection of open) connection.close();
  return { perSecond: (1_000 * requests) / ms, p99Ms: quantile(latencies, 0.99) };
}

/** So many a second, whether or not the earlier ones are answered: latency counts from when it should have been sent. */
async function paced({ port, requests, alerts, first = 0, connections }: Load, perSecond: number): Promise<Loaded> {
  const texts = alerts === 0 ? gitlabRequests(requests, first) : requestsOf(alerts);
  const free = await Promise.all(Array.from({ length: connections }, () => RawConnection.open(port)));
  const all = [...free];
  const latencies: number[] = [];
  const startedAt = machineMs();
  let next = 0;
  await new Promise<void>((resolve) => {
    const pump = () => {
      while (next < requests && free.length > 0 && machineMs() >= startedAt + (1_000 * next) / perSecond) {
        const due = startedAt + (1_000 * next) / perSecond;
        const connection = free.pop() as RawConnection;
        void send(connection, texts[next++ % texts.length] as string).then(() => {
          latencies.push(machineMs() - due);
          free.push(connection);
          if (latencies.length === requests) resolve();
        });
      }
      if (next === requests) return;
      // Who is early sleeps: on a small machine a spinning sender would take what it measures.
      const earlyMs = startedAt + (1_000 * next) / perSecond - machineMs();
      if (earlyMs > 2) setTimeout(pump, 1);
      else setImmediate(pump);
    };
    pump();
  });
  for (const connection of all) connection.close();
  return { perSecond: (1_000 * requests) / (machineMs() - startedAt), p99Ms: quantile(latencies, 0.99) };
}

async function send(connection: RawConnection, request: string): Promise<number> {
  const sentAt = machineMs();
  const status = await connection.send(request);
  if (status < 200 || status > 299) throw new Error(`a request was answered with ${status}`);
  return machineMs() - sentAt;
}

function requestsOf(alerts: number): string[] {
  return Array.from({ length: 50 }, (_, i) => {
    const body = webhook(alerts, i);
    const headers = `Host: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}`;
    return `POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`;
  });
}

function gitlabRequests(requests: number, first: number): string[] {
  return Array.from({ length: requests }, (_, i) => {
    const body = gitlabWebhook(first + i);
    const headers = `Host: x\r\nContent-Type: application/json\r\nX-Gitlab-Token: ${gitlabSecret}\r\nIdempotency-Key: delivery-${first + i}\r\nContent-Length: ${body.length}`;
    return `POST ${gitlabPath} HTTP/1.1\r\n${headers}\r\n\r\n${body}`;
  });
}
