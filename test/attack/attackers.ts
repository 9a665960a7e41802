import { setMaxListeners } from "node:events";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectSecurely } from "node:tls";
import { Dice } from "../chaos/dice.ts";

/** What is attacked, and with which tokens. */
export interface Victim {
  readonly gateway: string;
  /** Of a sender that may post everything. */
  readonly token: string;
  readonly api: string;
  /** Of the API server and of the console. */
  readonly apiToken: string;
  readonly console: string;
}

/** By attack and status code (0: the connection was closed), how many requests were answered so. */
export type Tally = Record<string, Record<number, number>>;

const signals = "/api/v1/signals";
const webhook = "/api/v1/signals/alertmanager";
const configMaps = "/api/v1/namespaces/default/configmaps";

/** Runs all attacks side by side until `signal` aborts, or only those whose name begins with `only`. */
export async function attackAll(victim: Victim, seed: number, only: string, signal: AbortSignal): Promise<Tally> {
  // Every attack listens.
  setMaxListeners(0, signal);
  const tally: Tally = {};
  const attacks = Object.entries(attackersOf(victim)).filter(([name]) => name.startsWith(only));
  await Promise.all(
    attacks.map(async ([name, { pauseMs, side = 1, attack }]) => {
      const dice = new Dice(seed + name.length);
      const counts: Record<number, number> = {};
      tally[name] = counts;
      const loop = async () => {
        while (!signal.aborted) {
          const status = await attack(dice, signal).catch(() => 0);
          counts[status] = (counts[status] ?? 0) + 1;
          await sleep(pauseMs, undefined, { signal }).catch(() => {});
        }
      };
      await Promise.all(Array.from({ length: side }, loop));
    }),
  );
  return tally;
}

interface Attacker {
  readonly pauseMs: number;
  /** How many at a time. */
  readonly side?: number;
  /** One attempt. Resolves to the status code of its answer. */
  readonly attack: (dice: Dice, signal: AbortSignal) => Promise<number>;
}

function attackersOf(victim: Victim): Readonly<Record<string, Attacker>> {
  const post = poster(victim);
  const json = (path: string, body: unknown, headers = {}) =>
    post.gateway(path, typeof body === "string" ? body : JSON.stringify(body), headers);
  const id = (dice: Dice) => dice.whole(0, 1_000_000_000).toString(36);
  return {
    "slow headers": {
      pauseMs: 100,
      side: 100,
      attack: (_, signal) => drip(victim.gateway, "GET /healthz HTTP/1.1\r\nHost: x\r\n", "X-a: b\r\n", signal),
    },
    "slow body": {
      pauseMs: 100,
      side: 100,
      attack: (_, signal) => drip(victim.gateway, requestHead(signals, victim.token, 100_000), " ", signal),
    },
    "slow api": {
      pauseMs: 100,
      side: 50,
      attack: (_, signal) => drip(victim.api, `POST ${configMaps} HTTP/1.1\r\nHost: x\r\n`, "X-a: b\r\n", signal),
    },
    "batches of new signals": {
      pauseMs: 500,
      attack: (dice) =>
        json(
          signals,
          Array.from({ length: 1_000 }, () => ({ name: "Flood", target: `node/flood-${id(dice)}` })),
        ),
    },
    "batches that are too large": {
      pauseMs: 1_000,
      attack: () => json(signals, Array(20_000).fill({ name: "Flood", target: "node/a" })),
    },
    "bodies that are too large": { pauseMs: 1_000, attack: () => json(signals, " ".repeat(3_000_000)) },
    "batches of nonsense": {
      pauseMs: 500,
      attack: () => json(webhook, { version: "4", alerts: Array(4_999).fill({}) }),
    },
    "unbounded fingerprints": {
      pauseMs: 5,
      side: 4,
      attack: (dice) => json(signals, { name: `Name-${id(dice)}`, target: `payment/deployment/d-${id(dice)}` }),
    },
    "unbounded series": {
      pauseMs: 20,
      attack: (dice) => json(signals, { name: "Series", target: "node/series", series: id(dice) }),
    },
    flapping: {
      pauseMs: 20,
      attack: (dice) => json(signals, { name: "Flap", target: "node/flap", status: dice.pick(["firing", "resolved"]) }),
    },
    "forged ends": {
      pauseMs: 50,
      attack: () =>
        json(signals, {
          name: "Good",
          target: "node/good",
          status: "resolved",
          source: "alertmanager",
          endTime: "9999-12-31T00:00:00Z",
        }),
    },
    "deep json": {
      pauseMs: 200,
      attack: (dice) => json(signals, deep(dice, 450_000)),
    },
    "deep payload": {
      pauseMs: 200,
      attack: (dice) =>
        json(
          webhook,
          `{"version":"4","alerts":[{"status":"firing","labels":{"alertname":"Deep","node":"d"},"x":${deep(dice, 100_000)}}]}`,
        ),
    },
    "deep json to the api": { pauseMs: 200, attack: (dice) => post.api(configMaps, deep(dice, 450_000)) },
    "regex bombs": {
      pauseMs: 50,
      side: 2,
      attack: (dice) => {
        const bomb = dice.pick(["a", "ab", "aX", "a!", "a\n"]).repeat(60_000);
        const labels = { alertname: "Bomb", node: `bomb-${dice.whole(1, 5)}`, bomb };
        return json(webhook, { version: "4", alerts: [{ status: "firing", labels }] });
      },
    },
    "many labels": {
      pauseMs: 100,
      attack: (dice) => {
        const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`l${i}`, id(dice)]));
        return json(signals, { name: "Labels", target: `node/labels-${dice.whole(1, 50)}`, labels });
      },
    },
    "terminal escapes": {
      pauseMs: 50,
      attack: (dice) => {
        const text = "\u001b]0;owned\u0007\u001b[2J\u001b[31m\r\nERROR forged=line\u202e\u0000";
        return json(signals, {
          name: `E${text}`,
          target: `node/e${dice.whole(1, 9)}`,
          labels: { [text]: text },
          severity: text,
        });
      },
    },
    "wrong tokens": {
      pauseMs: 5,
      side: 4,
      attack: (dice) => json(signals, "{}", { authorization: `Bearer ${id(dice).repeat(300).slice(0, 6_000)}` }),
    },
    "odd content types": {
      pauseMs: 20,
      attack: (dice) => {
        const types = [
          "constructor",
          "__proto__",
          "text/plain",
          "application/json;charset=\u00ff",
          "application/x-yaml",
          ";;;",
          "a/b".repeat(500),
        ];
        return json(signals, "{}", { "content-type": dice.pick(types) });
      },
    },
    "malformed http": {
      pauseMs: 20,
      side: 2,
      attack: (dice, signal) =>
        rawRequest(dice.pick([victim.gateway, victim.api, victim.console]), dice.pick(malformed), signal),
    },
    "yaml bombs": {
      pauseMs: 100,
      side: 4,
      attack: (dice) => post.api(configMaps, dice.pick(yamlBombs), { "content-type": "application/yaml" }),
    },
    "large objects": {
      pauseMs: 1_000,
      attack: () =>
        post.api(configMaps, JSON.stringify({ metadata: { name: "big" }, data: { a: "x".repeat(4_000_000) } })),
    },
    "slow console": {
      pauseMs: 100,
      side: 50,
      attack: (_, signal) => drip(victim.console, "GET /api/v1/now HTTP/1.1\r\nHost: x\r\n", "X-a: b\r\n", signal),
    },
    "large rule tests": {
      pauseMs: 50,
      side: 2,
      attack: (dice) => post.console(ruleTest, ruleTestBody(dice.pick([1, 100, 4_000]), dice)),
    },
    "deep json to the console": {
      pauseMs: 200,
      attack: (dice) => post.console(ruleTest, `{"source":"generic","payload":${deep(dice, 300_000)}}`),
    },
    "operations without rights": {
      pauseMs: 50,
      attack: (dice) =>
        post.console("/api/v1/operations/run", "{}", {
          cookie: `interlock-session-1=${id(dice).repeat(500)}`,
          origin: dice.pick(["http://evil.example", "null", victim.console]),
        }),
    },
    "webhooks without a secret": { pauseMs: 50, attack: () => json("/api/v1/webhooks/gitlab", "x".repeat(100_000)) },
  };
}

const ruleTest = "/api/v1/rules/test";

function ruleTestBody(length: number, dice: Dice): string {
  const alerts = Array.from({ length }, (_, i) => ({
    status: "firing",
    labels: { alertname: "Bomb", node: `n-${i}`, bomb: dice.pick(["a", "aX"]).repeat(50) },
  }));
  return JSON.stringify({ source: "alertmanager", payload: { version: "4", alerts } });
}

const malformed: readonly string[] = [
  "\u0000\u0001\u0002\u0003\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  `GET /${"a".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(100_000)}\r\n\r\n`,
  "POST /api/v1/signals HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
  "POST /api/v1/signals HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n",
  "POST /api/v1/signals HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "GET /%ff%fe%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "GET /healthz HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n".repeat(200),
];

const yamlBombs: readonly string[] = [
  aliasBomb(),
  Array.from({ length: 25_000 }, (_, i) => `k${i}: v`).join("\n"),
  "- a\n".repeat(60_000),
  "- ".repeat(50_000),
  "[".repeat(200_000),
  `a: &a [x]\n${Array.from({ length: 15_000 }, (_, i) => `k${i}: *a`).join("\n")}`,
  "x".repeat(2_000_000),
];

function aliasBomb(): string {
  const lines = ['a: &a ["x","x","x","x","x","x","x","x","x"]'];
  for (let i = 1; i < 9; i++) {
    const [from, to] = [String.fromCharCode(96 + i), String.fromCharCode(97 + i)];
    lines.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(",")}]`);
  }
  return lines.join("\n");
}

function deep(dice: Dice, depth: number): string {
  const closes = dice.chance(0.5);
  return dice.chance(0.5)
    ? "[".repeat(depth) + (closes ? "]".repeat(depth) : "")
    : `${'{"a":'.repeat(Math.floor(depth / 3))}1${closes ? "}".repeat(Math.floor(depth / 3)) : ""}`;
}

function requestHead(path: string, token: string, length: number): string {
  const headers = [
    `Host: x`,
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${length}`,
  ];
  return `POST ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`;
}

/** Posts with the right token, unless `headers` has another. */
function poster({ gateway, token, api, apiToken, console }: Victim) {
  const agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: 64 }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false }),
  };
  const send = (url: string, body: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    new Promise((resolve) => {
      const isSecure = url.startsWith("https:");
      const [ask, agent] = isSecure ? [httpsRequest, agents.https] : [httpRequest, agents.http];
      const sent = ask(url, { method: "POST", agent, headers, timeout: 120_000 }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
        response.on("error", () => resolve(0));
      });
      sent.on("timeout", () => sent.destroy(new Error("no answer")));
      // A body that is refused before it was read ends with the connection.
      sent.on("error", (error: Error) => resolve(error.message === "no answer" ? unanswered : 0));
      sent.end(body);
    });
  const usual = { "content-type": "application/json" };
  const withToken = { authorization: `Bearer ${apiToken}` };
  return {
    gateway: (path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
      send(`${gateway}${path}`, body, { ...usual, authorization: `Bearer ${token}`, ...headers }),
    api: (path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
      send(`${api}${path}`, body, { ...usual, ...withToken, ...headers }),
    console: (path: string, body: string, headers: Readonly<Record<string, string>> = withToken) =>
      send(`${console}${path}`, body, { ...usual, ...headers }),
  };
}

/** In place of a status code: a whole request had no answer for two minutes. */
export const unanswered = -1;

function open(url: string): Socket {
  const { protocol, hostname, port } = new URL(url);
  const options = { host: hostname, port: Number(port), rejectUnauthorized: false };
  return protocol === "https:" ? connectSecurely(options) : connect(options);
}

/** Sends `head`, then `drop` every second, until the server has enough. */
async function drip(url: string, head: string, drop: string, signal: AbortSignal): Promise<number> {
  const socket = open(url);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  let received = "";
  socket.on("data", (chunk) => {
    received += String(chunk).slice(0, 20);
  });
  socket.on("error", () => {});
  socket.write(head);
  const dripping = setInterval(() => socket.write(drop), 1_000);
  const abort = () => socket.destroy();
  signal.addEventListener("abort", abort, { once: true });
  await closed;
  clearInterval(dripping);
  signal.removeEventListener("abort", abort);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
}

/** Sends `text` and waits until the server has answered or closed the connection. */
async function rawRequest(url: string, text: string, signal: AbortSignal): Promise<number> {
  const socket = open(url);
  socket.on("error", () => {});
  const answer = new Promise<number>((resolve) => {
    socket.once("data", (chunk) => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(String(chunk))?.[1] ?? 0)));
    socket.on("close", () => resolve(0));
  });
  const abort = () => socket.destroy();
  signal.addEventListener("abort", abort, { once: true });
  socket.write(text);
  const status = await answer;
  socket.destroy();
  signal.removeEventListener("abort", abort);
  return status;
}
