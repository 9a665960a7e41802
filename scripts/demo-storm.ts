import { readFile } from "node:fs/promises";
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
import { until } from "../test/executor/processes/until.ts";
import { UpProcess } from "../test/services/up-process.ts";

// npm run demo:storm            a node runs out of disk, thirteen Pods are evicted, and one clean-up is run: once with alerts of
//                               Alertmanager, and once with Kubernetes Events
// npm run demo:storm -- --json  the last line is one JSON object
//
// Uses the Interlock of `npm start` if it runs, and otherwise starts one in a temporary directory.

const places = ["prod", "staging", "dev", "payment", "search"];
const evictions = 13;
/** How a storm is reported. */
type Path = "alertmanager" | "events";

interface Stage {
  readonly url: string;
  readonly token: string;
  readonly client: KubeClient;
  /** Whether it keeps running after the demo. */
  readonly isLasting: boolean;
  close(): Promise<void>;
}

const stage = await openStage();
try {
  const { isAsExpected: byAlerts, ...alertmanager } = await play(stage, "alertmanager");
  const { isAsExpected: byEvents, ...events } = await play(stage, "events");
  if (process.argv.includes("--json")) console.log(JSON.stringify({ alertmanager, events }));
  process.exitCode = byAlerts && byEvents ? 0 : 1;
} finally {
  await stage.close();
}
process.exit();

async function play({ url, token, client, isLasting }: Stage, path: Path) {
  const startedAt = performance.now();
  // Each storm has its own node: the previous one may still be in its cooldown.
  const node = `worker-node-${path}-${Date.now().toString(36)}`;
  const target = `node/${node}`;
  const report = path === "events" ? "Kubernetes Events report" : "Alertmanager reports";
  console.log(`\n${node} runs out of disk: ${evictions} Pods are evicted, and ${report} each three times.\n`);
  let signals = 0;
  for (let times = 1; times <= 3; times++) signals += await post("firing");
  await until("every incident is decided", async () => (await incidents()).every(isAnswered) || undefined);
  // Events never report that a problem is resolved: their incidents are verified for a while, and then closed.
  if (path === "alertmanager") {
    signals += await post("resolved");
    await until("every incident is closed", async () => (await incidents()).every(isClosed) || undefined);
  }
  const notices = await until("notices are sent", async () => {
    const found = await noticesAbout(client, target);
    return found.length >= 2 ? found : undefined;
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
  const isOneNotice = notices.length - digests.length === 1 && digests.length <= 1;
  const namesAll = digests.every(({ spec }) => spec.context?.entries?.length === evictions - 1);
  const isAsExpected = figures.runs === 1 && figures.followers === evictions - 1 && isOneNotice && namesAll;
  if (!isAsExpected) console.log("Expected one run, one notice about it, and one that names all other incidents.");
  return { ...figures, isAsExpected };

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
    const response = await fetch(`${url}/api/v1/signals/${source}`, request);
    if (!response.ok) throw new Error(`the gateway responded ${response.status}: ${await response.text()}`);
  }

  async function incidents(): Promise<readonly RemediationRequest[]> {
    const { items } = await client.list(remediationRequests);
    return items.filter(({ spec }) => spec.signalLabels?.["node"] === node);
  }
}

/** The Event with which a kubelet reports an evicted Pod. */
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

/** Whether a run has succeeded for the incident. */
function isFixed({ status }: RemediationRequest): boolean {
  return status?.phase === "Completed" || status?.phase === "Verifying";
}

/** Whether the incident waits for the verification, for a block to clear, or for nothing more. */
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

async function openStage(): Promise<Stage> {
  const running = await stageIn(process.env["INTERLOCK_DATA"] || ".data");
  if (running) return running;
  console.log("Interlock is not running (npm start); starting one for this demo.");
  const [workflowsDir, dir] = ["workflows", "rules"].map((name) =>
    fileURLToPath(new URL(`../${name}`, import.meta.url)),
  );
  const up = await UpProcess.start({}, { settings: { execution: { workflowsDir }, rules: { dir } } });
  const own = await stageIn(up.dataDir, () => up.discard());
  if (!own) throw new Error(`Interlock did not start:\n${up.screen}`);
  return own;
}

/** Connects to the Interlock with the data directory `directory`; undefined if it does not run. */
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
