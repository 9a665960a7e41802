import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openClient } from "../src/app/index.ts";
import type { KubeClient } from "../src/kube/index.ts";
import {
  closedIncidentPhases,
  notificationRequests,
  type RemediationRequest,
  remediationRequests,
  workflowExecutions,
} from "../src/resources/index.ts";
import { systemClock, systemRandom } from "../src/time/index.ts";

// npm run demo:storm            a node runs out of disk, thirteen Pods are evicted, and one clean-up is run: once with alerts of
//                               Alertmanager, and once with Kubernetes Events
// npm run demo:storm -- --json  the last line is one JSON object
//
// Plays at the Interlock of `npm start` if that runs, else at one of its own in a temporary directory.

const places = ["prod", "staging", "dev", "payment", "search"];
const evictions = 13;
/** How a storm is reported. */
type Path = "alertmanager" | "events";

interface Stage {
  readonly url: string;
  readonly token: string;
  readonly client: KubeClient;
  /** It is there when we are gone. */
  readonly isLasting: boolean;
  close(): Promise<void>;
}

const stage = await openStage();
try {
  const { asPromised: byAlerts, ...alertmanager } = await play(stage, "alertmanager");
  const { asPromised: byEvents, ...events } = await play(stage, "events");
  if (process.argv.includes("--json")) console.log(JSON.stringify({ alertmanager, events }));
  process.exitCode = byAlerts && byEvents ? 0 : 1;
} finally {
  await stage.close();
}
process.exit();

async function play({ url, token, client, isLasting }: Stage, path: Path) {
  const startedAt = performance.now();
  // A node of its own for each storm: the one before may still cool down.
  const node = `worker-node-${path}-${Date.now().toString(36)}`;
  const target = `node/${node}`;
  const report = path === "events" ? "Kubernetes Events report" : "Alertmanager reports";
  console.log(`\n${node} runs out of disk: ${evictions} Pods are evicted, and ${report} each three times.\n`);
  let signals = 0;
  for (let times = 1; times <= 3; times++) signals += await post("firing");
  await until("every incident has its answer", async () => (await incidents()).every(isAnswered));
  // Events never say that a problem is over: their incidents are watched for a while, and close by themselves.
  if (path === "alertmanager") {
    signals += await post("resolved");
    await until("every incident is closed", async () => (await incidents()).every(isClosed));
  }
  const notices = await until("notices are sent", async () => {
    const told = await noticesAbout(client, target);
    return told.length >= 2 ? told : undefined;
  });

  const all = await incidents();
  const { items } = await client.list(workflowExecutions);
  const executions = items.filter(({ spec }) => spec.targetResource === target);
  const skips: Record<string, number> = {};
  for (const { status } of executions) {
    if (status?.phase === "Skipped") skips[status.skipDetails.reason] = (skips[status.skipDetails.reason] ?? 0) + 1;
  }
  const figures = {
    signals,
    incidents: all.length,
    runs: executions.filter(({ status }) => status?.phase !== "Skipped").length,
    followers: all.filter((incident) => incident.status?.follows && isFixed(incident)).length,
    skips,
    notices: notices.length,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
  };
  for (const [what, figure] of Object.entries(figures)) {
    console.log(`  ${what.padEnd(10)} ${typeof figure === "object" ? JSON.stringify(figure) : figure}`);
  }
  console.log("\nNotices:");
  for (const { spec } of notices) console.log(`  ${spec.message}`);
  const follower = all.find(({ status }) => status?.follows);
  if (isLasting && follower)
    console.log(`\nWhy nothing was run for one of them: interlock why ${follower.metadata.name}`);
  console.log();
  const digests = notices.filter(({ spec }) => spec.context?.entries);
  const toldOnce = notices.length - digests.length === 1 && digests.length <= 1;
  const namesAll = digests.every(({ spec }) => spec.context?.entries?.length === evictions - 1);
  const asPromised = figures.runs === 1 && figures.followers === evictions - 1 && toldOnce && namesAll;
  if (!asPromised)
    console.log("This is not as it was promised: one run, and one notice besides that names all others.");
  return { ...figures, asPromised };

  async function post(status: "firing" | "resolved"): Promise<number> {
    const pods = Array.from({ length: evictions }, (_, i) => {
      return { namespace: places[i % places.length] ?? "", pod: `app-${i}-${node}` };
    });
    if (path === "events") {
      for (const { namespace, pod } of pods) await send("kubernetes-event", evictedEvent({ namespace, pod, node }));
      return pods.length;
    }
    const alerts = pods.map((labels) => ({ status, labels: { alertname: "KubePodEvicted", ...labels, node } }));
    await send("alertmanager", { version: "4", status, alerts });
    return alerts.length;
  }

  async function send(source: string, body: object): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/v1/signals/${source}`, request);
    if (!answer.ok) throw new Error(`the gateway answered ${answer.status}: ${await answer.text()}`);
  }

  async function incidents(): Promise<readonly RemediationRequest[]> {
    const { items } = await client.list(remediationRequests);
    return items.filter(({ spec }) => spec.signalLabels?.["node"] === node);
  }
}

/** As a kubelet reports that it has evicted a Pod. */
function evictedEvent({ namespace, pod, node }: Readonly<Record<"namespace" | "pod" | "node", string>>): object {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${pod}.evicted`, namespace },
    type: "Warning",
    reason: "Evicted",
    message: "The node was low on resource: ephemeral-storage.",
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name: pod },
    source: { component: "kubelet", host: node },
    lastTimestamp: new Date().toISOString(),
  };
}

/** A run has succeeded for it, and it is closed or watched. */
function isFixed({ status }: RemediationRequest): boolean {
  return status?.phase === "Completed" || status?.phase === "Verifying";
}

/** Nothing more happens to it by itself for a while. */
function isAnswered(incident: RemediationRequest): boolean {
  return isClosed(incident) || incident.status?.phase === "Verifying" || incident.status?.phase === "Blocked";
}

function isClosed({ status }: RemediationRequest): boolean {
  return (closedIncidentPhases as readonly string[]).includes(status?.phase ?? "");
}

async function noticesAbout(client: KubeClient, target: string) {
  const { items } = await client.list(notificationRequests);
  return items.filter(({ spec }) => spec.context?.targetResource === target);
}

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const endsAt = performance.now() + 60_000; performance.now() < endsAt; ) {
    const seen = await look();
    if (seen) return seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within a minute: ${what}`);
}

async function openStage(): Promise<Stage> {
  const running = await stageIn(process.env["INTERLOCK_DATA"] || ".data");
  if (running) return running;
  const directory = await mkdtemp(join(tmpdir(), "interlock-storm-"));
  console.log("Nothing runs here (npm start): one is started for this.");
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const args = ["--import", "tsx", main, "up", "--data", directory, "--listen", "127.0.0.1:0"];
  const env = { ...process.env, GATEWAY_LISTEN: "127.0.0.1:0", CONSOLE_LISTEN: "127.0.0.1:0" };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  process.once("exit", () => child.kill("SIGKILL"));
  let said = "";
  // It is read to the end: a process whose output is not read cannot print.
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  await until(
    "Interlock is running",
    async () => child.exitCode !== null || said.includes("Next, in a second terminal"),
  );
  const own = await stageIn(directory, async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    await rm(directory, { recursive: true, force: true });
  });
  if (!own) throw new Error(`it did not start:\n${said}`);
  return own;
}

/** The Interlock that keeps its things in `directory`, if it runs. */
async function stageIn(directory: string, close?: () => Promise<void>): Promise<Stage | undefined> {
  const url = await readFile(join(directory, "gateway-url"), "utf8").catch(() => undefined);
  const isUp =
    url !== undefined &&
    (await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ));
  if (!url || !isUp) return undefined;
  const tokens = await readFile(join(directory, "gateway-tokens"), "utf8");
  const [, token = ""] = /^local (\S+)$/m.exec(tokens) ?? [];
  const client = await openClient(join(directory, "kubeconfig"), {
    env: process.env,
    clock: systemClock(),
    random: systemRandom(),
  });
  return { url, token, client, isLasting: !close, close: close ?? (async () => {}) };
}
