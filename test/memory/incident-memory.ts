import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { fromKubeconfig, httpClient, type ResourceType } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { bundle } from "../services/bundle.ts";
import { dieWithUs, end, waitForOutput } from "../services/child.ts";
import { plainEnv } from "../services/interlock.ts";

export interface IncidentMemoryOptions {
  /** How many incidents are opened before the first measurement, which fills what is bounded, and as many again after it. */
  readonly count: number;
  /** The `i`-th alert as Alertmanager sends it. */
  readonly alert: (i: number) => object;
  /** How many alerts in a row are one incident. */
  readonly alertsPerIncident?: number;
}

/**
 * Compiled code would count as the memory of the incidents during which a function became hot: a megabyte, or kilobytes for each
 * of some hundred. With these flags all there is of a function exists from its first call on.
 */
const withoutCompiledCode = [
  "--no-opt",
  "--no-maglev",
  "--no-sparkplug",
  "--no-lazy-feedback-allocation",
  "--no-flush-bytecode",
];

/**
 * By how much the heap and external memory of `interlock up` grow with each open incident, once all of them are at rest.
 * The number of incidents doubles between the two measurements: then every map with entries for each of them doubles its
 * capacity once, wherever its limits are.
 */
export async function incidentMemory(options: IncidentMemoryOptions): Promise<number> {
  const { count, alert, alertsPerIncident = 1 } = options;
  const directory = mkdtempSync(join(tmpdir(), "interlock-memory-"));
  const entry = new URL("./measured-process.ts", import.meta.url);
  const program = await bundle(entry, join(directory, "interlock.mjs"));
  const args = [...withoutCompiledCode, "--expose-gc", program, "up", ...upOptions(directory)];
  const up = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe", "ipc"], env: plainEnv });
  try {
    dieWithUs(up);
    await waitForOutput(up, /Next, in a second terminal:\n\n.+\n\n/s);
    up.stdout?.resume();
    up.stderr?.resume();
    const gateway = readFileSync(join(directory, "data", "gateway-url"), "utf8").trim();

    const open = async (from: number, to: number) => {
      await openIncidents(gateway, from * alertsPerIncident, to * alertsPerIncident, alert);
      await blocked(gateway, to);
      await restingBytes(up);
      await fillHistory(directory);
      return restingBytes(up);
    };
    const before = await open(0, count);
    return ((await open(count, 2 * count)) - before) / count;
  } finally {
    await end(up, "SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
}

const token = "the-token-of-a-sender";

function upOptions(directory: string): string[] {
  const [rules, workflows] = [join(directory, "rules"), join(directory, "workflows")];
  mkdirSync(rules);
  mkdirSync(workflows);
  const config = join(directory, "config.yaml");
  const gateway = {
    listen: "127.0.0.1:0",
    tokens: `sender ${token}`,
    maxOpenIncidentsPerSender: 100_000,
    maxOpenIncidents: 100_000,
  };
  // The Lease of a lock is removed ten minutes after its last use, which is no part of an incident at rest.
  const locks = { backend: "memory" };
  writeFileSync(config, stringify({ execution: { workflowsDir: workflows }, rules: { dir: rules }, gateway, locks }));
  return ["--data", join(directory, "data"), "--listen", "127.0.0.1:0", "--config", config];
}

const alertsPerRequest = 20;

async function openIncidents(gateway: string, from: number, to: number, alert: (i: number) => object): Promise<void> {
  for (let at = from; at < to; ) {
    const alerts = Array.from({ length: Math.min(alertsPerRequest, to - at) }, (_, i) => alert(at + i));
    const response = await fetch(`${gateway}/api/v1/signals/alertmanager`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ version: "4", alerts }),
    });
    const text = await response.text();
    if (response.status >= 300 && response.status !== 503) throw new Error(`${response.status}: ${text}`);
    if (response.status === 503) await sleep(500);
    else at += alerts.length;
  }
}

/** Resolves when `count` incidents are open and wait for a rule that applies. */
async function blocked(gateway: string, count: number): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${gateway}/metrics`)).text();
    const open = Number(/^ro_open_incidents\{phase="Blocked"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    if (open >= count) return;
    await sleep(200);
  }
}

/**
 * Fills the history of the API server, which is bounded, with the same changes before each measurement, when there are no
 * others any more. Otherwise it has texts of incidents, more or fewer of them each time.
 */
async function fillHistory(directory: string): Promise<void> {
  const connection = await fromKubeconfig({ path: [join(directory, "data", "kubeconfig")], env: plainEnv });
  const client = httpClient({ connection, clock: systemClock(), random: systemRandom() });
  const ref = { namespace: "default", name: "fill" };
  await client.create(configMaps, { metadata: ref });
  for (let i = 0; i < 100; i++) {
    const text = String(i).padEnd(100_000, "x");
    await client.patch(configMaps, ref, { merge: { data: { text } } });
  }
}

const configMaps: ResourceType = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

/** How often in a row nothing was freed until that counts as rest: a slow machine frees a response's memory seconds later. */
const steadyMeasurements = 20;

/** What is in use after a collection, as soon as it has stopped falling. */
async function restingBytes(up: ChildProcess): Promise<number> {
  let last = Number.POSITIVE_INFINITY;
  for (let steady = 0; ; ) {
    const bytes = await usedBytes(up);
    steady = bytes < 0.995 * last ? 0 : steady + 1;
    last = Math.min(last, bytes);
    if (steady >= steadyMeasurements) return last;
    await sleep(1_000);
  }
}

async function usedBytes(up: ChildProcess): Promise<number> {
  const answered = once(up, "message");
  up.send("measure");
  const [{ heapUsed, external }] = await answered;
  return heapUsed + external;
}
