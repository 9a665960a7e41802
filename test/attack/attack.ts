import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse, stringify } from "yaml";
import { bundle } from "../services/bundle.ts";
import { dieWithUs, end, hasEnded, waitForOutput } from "../services/child.ts";
import { plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";
import { type Tally, unanswered } from "./attackers.ts";

export interface AttackOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Only attacks whose name begins so. */
  readonly only?: string;
  readonly print?: (line: string) => void;
}

export interface AttackReport {
  readonly seconds: number;
  readonly requests: number;
  /** Of GET /healthz while the attack goes on, asked every 20 ms. */
  readonly health: {
    readonly asked: number;
    readonly unanswered: number;
    readonly p50Ms: number;
    readonly p99Ms: number;
    readonly maxMs: number;
  };
  /** Of the whole product, which is one process. */
  readonly rssMb: { readonly start: number; readonly max: number; readonly end: number };
  readonly tally: Tally;
  /** What must not happen: whole requests without an answer, 5xx other than 503, a sender that is shut out. */
  readonly violations: readonly string[];
}

/** What is alive stays below 150 MB; without a limit, Node lets a gigabyte of garbage accumulate before it collects. */
const heapLimitMb = 512;

/** The heap, and as much as the process has outside of it: code, buffers, stacks of threads, SQLite. */
export const maxRssMb = heapLimitMb + 256;

const good = { name: "good", token: "the-token-of-a-good-sender" };
const hostile = { name: "hostile", token: "the-token-of-a-hostile-sender" };

/** Starts `interlock up` on loopback with an empty data directory, and attacks it from another process. */
export async function attack({ seconds, seed, only = "", print = () => {} }: AttackOptions): Promise<AttackReport> {
  const directory = mkdtempSync(join(tmpdir(), "interlock-attack-"));
  const children: ChildProcess[] = [];
  try {
    const program = await interlockProgram();
    const attackers = await bundle(
      new URL("./attackers-process.ts", import.meta.url),
      join(directory, "attackers.mjs"),
    );
    const up = spawn(
      process.execPath,
      [`--max-old-space-size=${heapLimitMb}`, program, "up", ...upOptions(directory)],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: plainEnv,
      },
    );
    children.push(up);
    dieWithUs(up);
    await waitForOutput(up, /Next, in a second terminal:\n\n.+\n\n/s);
    up.stdout?.resume();
    let last = "";
    up.stderr?.on("data", (chunk) => {
      last = `${last}${chunk}`.slice(-4_000);
    });
    up.once("exit", (_code, signal) => {
      // SIGKILL is how it ends when the attack is over.
      if (signal !== "SIGKILL") print(`the product ended; its last output was:\n${last}`);
    });
    return await underAttack({ directory, up, attackers, seconds, seed, only, print, children });
  } finally {
    await Promise.all(children.map((child) => end(child, "SIGKILL")));
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Stage {
  readonly directory: string;
  readonly up: ChildProcess;
  readonly attackers: string;
  readonly seconds: number;
  readonly seed: number;
  readonly only: string;
  readonly print: (line: string) => void;
  readonly children: ChildProcess[];
}

async function underAttack({
  directory,
  up,
  attackers,
  seconds,
  seed,
  only,
  print,
  children,
}: Stage): Promise<AttackReport> {
  const gateway = readFileSync(join(directory, "data", "gateway-url"), "utf8").trim();
  const consoleUrl = readFileSync(join(directory, "data", "console-url"), "utf8").trim();
  const { server, token } = apiOf(join(directory, "data", "kubeconfig"));
  const start = rssMb(up);
  const first = await postGood(gateway, "before");
  const args = [attackers, gateway, hostile.token, server, token, consoleUrl, String(seed), only];
  const hostiles = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env: plainEnv });
  children.push(hostiles);
  dieWithUs(hostiles);
  let printed = "";
  hostiles.stdout?.on("data", (chunk) => {
    printed += String(chunk);
  });

  const { latencies, silent, max } = await probe({ gateway, up, seconds, print });
  const goodStatuses = [first, await postGood(gateway, "after"), await postGood(gateway, "good")];
  const exited = once(hostiles, "exit");
  hostiles.kill("SIGTERM");
  await exited;
  const tally = JSON.parse(printed || "{}") as Tally;
  const sorted = latencies.toSorted((a, b) => a - b);
  const violations = violationsOf(tally, goodStatuses);
  if (hasEnded(up)) violations.push(`the process ended with ${up.exitCode ?? up.signalCode}`);
  if (silent > 0) violations.push(`/healthz was not answered ${silent} times`);
  return {
    seconds,
    requests: Object.values(tally).reduce((sum, counts) => sum + totalOf(counts), 0),
    health: {
      asked: latencies.length + silent,
      unanswered: silent,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: sorted.at(-1) ?? 0,
    },
    rssMb: { start, max, end: rssMb(up) },
    tally,
    violations,
  };
}

function upOptions(directory: string): string[] {
  const rules = join(directory, "rules");
  const workflows = join(directory, "workflows", "nothing");
  mkdirSync(rules);
  mkdirSync(workflows, { recursive: true });
  const task = { name: "act", taskSpec: { steps: [{ name: "nothing", script: "true" }] } };
  const pipeline = {
    apiVersion: "tekton.dev/v1",
    kind: "Pipeline",
    metadata: { name: "nothing" },
    spec: { tasks: [task] },
  };
  writeFileSync(join(workflows, "pipeline.yaml"), stringify(pipeline));
  const workflow = {
    workflowId: "nothing",
    version: "1.0.0",
    description: "Does nothing.",
    engine: "local",
    targetKinds: ["node"],
  };
  writeFileSync(join(workflows, "workflow.yaml"), stringify(workflow));
  const bombs = ["/(a+)+b/", "/([a-z]+)*X/", "/(a|a?)+/", "/(.*)*!/", "/^(a|b|ab)*c$/"];
  const matching = bombs.map((bomb, i) => ({ name: `bomb-${i}`, match: { labels: { bomb } }, workflow: "nothing" }));
  const any = { name: "any-bomb", match: { signalName: "/Bomb.*/" }, workflow: "nothing" };
  writeFileSync(join(rules, "rules.yaml"), stringify({ rules: [...matching, any] }));
  const config = join(directory, "config.yaml");
  const tokens = [good, hostile].map(({ name, token }) => `${name} ${token}`).join(";");
  writeFileSync(
    config,
    stringify({
      execution: { workflowsDir: join(directory, "workflows") },
      gateway: { listen: "127.0.0.1:0", tokens },
      console: { listen: "127.0.0.1:0" },
      rules: { dir: rules },
    }),
  );
  return ["--data", join(directory, "data"), "--listen", "127.0.0.1:0", "--config", config];
}

/** Asks /healthz as a kubelet does, over new connections and kept ones in turn. */
async function probe({ gateway, up, seconds, print }: Pick<Stage, "up" | "seconds" | "print"> & { gateway: string }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const latencies: number[] = [];
  let silent = 0;
  let max = 0;
  const startedAt = performance.now();
  for (let i = 0; performance.now() - startedAt < seconds * 1_000 && !hasEnded(up); i++) {
    const latency = await askHealth(gateway, i % 2 === 0 ? agent : undefined);
    if (latency === undefined) silent++;
    else latencies.push(latency);
    if (i % 50 === 0) max = Math.max(max, rssMb(up));
    if (i % 1_000 === 999) {
      const sorted = latencies.toSorted((a, b) => a - b);
      const elapsed = Math.round((performance.now() - startedAt) / 1_000);
      print(`${elapsed} s: /healthz p99 ${quantile(sorted, 0.99)} ms, max ${sorted.at(-1)} ms, RSS ${rssMb(up)} MB`);
    }
    await sleep(20);
  }
  agent.destroy();
  return { latencies, silent, max: Math.max(max, rssMb(up)) };
}

/** Milliseconds until it was answered with 200; undefined if it was not within ten seconds. */
function askHealth(gateway: string, agent: Agent | undefined): Promise<number | undefined> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const asked = get(
      `${gateway}/healthz`,
      { timeout: 10_000, ...(agent ? { agent } : { agent: false }) },
      (response) => {
        response.resume();
        const latency = Math.round(performance.now() - startedAt);
        response.on("end", () => resolve(response.statusCode === 200 ? latency : undefined));
      },
    );
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("error", () => resolve(undefined));
  });
}

/** A sender that behaves has to be served while another one attacks. */
async function postGood(gateway: string, node: string): Promise<number> {
  const alert = { status: "firing", labels: { alertname: "Good", node } };
  for (let tries = 0; ; tries++) {
    const response = await fetch(`${gateway}/api/v1/signals/alertmanager`, {
      method: "POST",
      headers: { authorization: `Bearer ${good.token}`, "content-type": "application/json" },
      body: JSON.stringify({ version: "4", alerts: [alert] }),
    }).catch(() => undefined);
    if (!response) return 599;
    await response.arrayBuffer();
    // Asked to come again, as under any load.
    if (response.status !== 503 || tries === 20) return response.status;
    await sleep(500);
  }
}

function violationsOf(tally: Tally, goodStatuses: readonly number[]): string[] {
  const found: string[] = [];
  for (const [name, counts] of Object.entries(tally)) {
    for (const [status, count] of Object.entries(counts)) {
      const isWrong = Number(status) === unanswered || (Number(status) >= 500 && Number(status) !== 503);
      if (isWrong)
        found.push(`${name}: ${count} requests with ${Number(status) === unanswered ? "no answer" : status}`);
    }
  }
  const forged = Object.entries(tally["forged ends"] ?? {}).filter(
    ([status]) => Number(status) < 400 && Number(status) > 0,
  );
  if (forged.length > 0) found.push("forged ends: a source of another sender was accepted");
  for (const status of goodStatuses) if (status >= 300) found.push(`a sender that behaves was answered ${status}`);
  return found;
}

function apiOf(kubeconfig: string): { server: string; token: string } {
  const { clusters, users } = parse(readFileSync(kubeconfig, "utf8"));
  return { server: clusters[0].cluster.server, token: users[0].user.token };
}

function rssMb({ pid }: ChildProcess): number {
  try {
    const [, kb = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Math.round(Number(kb) / 1_024);
  } catch {
    return 0;
  }
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

function totalOf(counts: Readonly<Record<number, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
