import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { remediationRequests } from "../../../src/resources/index.ts";
import { isNamed } from "../../../src/resources/short-names/index.ts";
import { until } from "../../executor/processes/until.ts";
import type { UpProcess } from "../../services/up-process.ts";
import { ConsoleInBrowser } from "./console-in-browser.ts";

const namespace = "kubernaut-system";

/** A morning at a small cluster: workflows, rules, and incidents in the lanes of Now. */
export class Scenario {
  readonly console: ConsoleInBrowser;
  /** The drains, and the clean-up of a storm, wait until this file exists. */
  readonly #go: string;
  readonly #folder: string;

  private constructor(console: ConsoleInBrowser, folder: string) {
    this.console = console;
    this.#folder = folder;
    this.#go = join(folder, "go");
  }

  static async start(): Promise<Scenario> {
    const folder = mkdtempSync(join(tmpdir(), "interlock-scenario-"));
    const wait = `while [ ! -e ${join(folder, "go")} ]; do sleep 0.05; done`;
    const console = await ConsoleInBrowser.start({ workflows: workflows(wait), rules, seed: refuseEveryRun });
    return new Scenario(console, folder);
  }

  get up(): UpProcess {
    return this.console.up;
  }

  /** One incident in each lane that an installation reaches without waiting for hours. */
  async play(): Promise<void> {
    await this.runDrain("node/worker-2");
    const [repaired] = await Promise.all([this.signalAt("DiskPressure", "node/worker-3", "Verifying")]);
    await this.signalAt("DiskPressure", "node/worker-2", "Blocked");
    await this.signalAt("ImagePressure", "node/worker-3", "Blocked");
    await this.up.signal("DiskPressure", "node/worker-3", { status: "resolved", ...series });
    await this.reaches(repaired, "Completed");
    await this.fail("payment/deployment/api");
    await this.signalAt("HighLatency", "shop/deployment/web", "AwaitingApproval");
    await this.pause("target", "node/worker-4");
    await this.signalAt("DiskPressure", "node/worker-4", "Blocked");
    await this.signalAt("ClockSkew", "node/worker-5", "Blocked");
    await this.signalAt("CertExpiring", "shop/ingress/front", "Blocked");
  }

  /**
   * A node evicts its Pods, and each eviction is reported again and again: one clean-up runs for all. It waits like the
   * drains, as an incident that is decided after its end would wait for the cooldown instead.
   */
  async storm(): Promise<void> {
    const pods = Array.from({ length: 24 }, (_, i) => ({
      namespace: `team-${i % 5}`,
      pod: `app-${i}`,
      node: "worker-8",
    }));
    const alerts = pods.map((labels) => ({ status: "firing", labels: { alertname: "KubePodEvicted", ...labels } }));
    for (let times = 0; times < 6; times++)
      await this.up.receive("alertmanager", { version: "4", status: "firing", alerts });
  }

  /** An incident whose workflow acts on the target until `finishDrains`. */
  async runDrain(target: string): Promise<string> {
    return this.signalAt("KernelDeadlock", target, "Executing");
  }

  finishDrains(): void {
    writeFileSync(this.#go, "");
  }

  /** A failed execution, and an incident that is blocked by it until an operator acknowledges the failure. */
  async fail(target: string): Promise<string> {
    await this.signalAt("CrashLooping", target, "Failed");
    return this.signalAt("ImagePullFailing", target, "Blocked");
  }

  async pause(...scope: readonly string[]): Promise<void> {
    const { status, err } = await this.up.interlock("pause", ...scope, "--reason", "release 4.2", "--for", "2h");
    if (status !== 0) throw new Error(err);
  }

  /** Sends a signal, and waits until its incident is in that phase. Returns the short name of the incident. */
  async signalAt(name: string, target: string, phase: string): Promise<string> {
    const incident = await this.up.signal(name, target, { severity: severities[name] ?? "warning", ...series });
    await this.reaches(incident, phase);
    return incident;
  }

  /** Waits until an incident is in a phase. */
  async reaches(incident: string, phase: string): Promise<void> {
    const client = await this.up.client();
    let status: object | undefined;
    await until(`${incident} is ${phase}`, async () => {
      const { items } = await client.list(remediationRequests, { namespace });
      const found = items.find(({ metadata }) => isNamed(incident, metadata.name ?? ""));
      status = found?.status;
      return found?.status?.phase === phase;
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(status)}`);
    });
  }

  async stop(): Promise<void> {
    this.finishDrains();
    await this.console.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Gives the workflow for certificates a pipeline that accepts no target: its runs fail before they act. */
async function refuseEveryRun(dataDir: string): Promise<void> {
  const pipeline = {
    ...{ apiVersion: "tekton.dev/v1", kind: "Pipeline", metadata: { name: "workflow" } },
    spec: {
      params: [{ name: "TARGET_RESOURCE", enum: ["none"] }],
      tasks: [{ name: "act", taskSpec: { steps: [{ name: "renew", script: "true" }] } }],
    },
  };
  writeFileSync(join(dataDir, "..", "workflows", "renew-certificate", "pipeline.yaml"), stringify(pipeline));
}

const series = {
  labels: { cluster: "prod-eu-1", team: "platform" },
  annotations: { runbook: "https://runbooks.example/" },
};

const severities: Readonly<Record<string, string>> = { CrashLooping: "critical", KernelDeadlock: "critical" };

function workflows(wait: string) {
  const onDeployments = { targetKinds: ["deployment"] };
  return {
    "node-disk-cleanup": {
      script: "echo removed 14 unused images\necho freed 12 GB",
      entry: { description: "Removes unused images and old logs from a node.", cooldown: "10m" },
    },
    "pod-cleanup": { script: wait, entry: { description: "Removes the evicted Pods of a node." } },
    "node-drain": {
      script: `echo cordoned $TARGET_RESOURCE\n${wait}\necho drained`,
      entry: { description: "Moves the Pods of a node elsewhere." },
    },
    "restart-deployment": {
      script: "echo the image api:4.2 cannot be pulled >&2\nexit 1",
      entry: { description: "Restarts a Deployment and waits until it is ready.", ...onDeployments },
    },
    "renew-certificate": {
      script: "true",
      entry: { description: "Renews the certificate of an Ingress.", targetKinds: ["ingress"] },
    },
    "scale-out": {
      script: "echo scaled to $REPLICAS",
      parameters: { REPLICAS: { type: "string", description: "How many replicas" } },
      entry: { description: "Adds replicas to a Deployment.", approval: { required: true }, ...onDeployments },
    },
  };
}

const rules = [
  {
    name: "evictions-by-node",
    match: { signalName: "KubePodEvicted" },
    target: "node/{{ labels.node }}",
    workflow: "pod-cleanup",
  },
  { name: "full-disks", match: { signalName: ["DiskPressure", "ImagePressure"] }, workflow: "node-disk-cleanup" },
  { name: "deadlocks", match: { signalName: "KernelDeadlock" }, workflow: "node-drain" },
  { name: "crashes", match: { signalName: ["CrashLooping", "ImagePullFailing"] }, workflow: "restart-deployment" },
  { name: "certificates", match: { signalName: "CertExpiring" }, workflow: "renew-certificate" },
  {
    name: "slow-deployments",
    match: { signalName: "HighLatency" },
    workflow: "scale-out",
    parameters: { REPLICAS: "6" },
  },
];
