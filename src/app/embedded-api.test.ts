import { link, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { type CreateOutcome, type KubeObject, namespaces } from "../kube/index.ts";
import { workflowExecutions } from "../resources/index.ts";
import { silentLogger } from "../telemetry/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { type EmbeddedApi, type EmbeddedApiOptions, startEmbeddedApi } from "./embedded-api.ts";
import { openClient } from "./open-client.ts";
import { prepare } from "./prepare.ts";

let directory: string;
const running: EmbeddedApi[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "interlock-api-"));
});

afterEach(async () => {
  for (const api of running.splice(0)) await api.close();
  await rm(directory, { recursive: true, force: true });
});

describe("the embedded API server", () => {
  it("starts without our kinds, which stages install, and keeps them after a restart", async () => {
    const first = await start();
    await expect(first.client.create(workflowExecutions, execution)).rejects.toThrow("is its definition installed?");
    await prepare(first.client, [], { log: silentLogger, clock: systemClock() });
    await first.client.create(workflowExecutions, execution);
    await first.close();
    running.length = 0;

    const second = await start();

    const found = await second.client.get(workflowExecutions, { namespace: "default", name: "wfe-1" });
    expect(found?.spec.targetResource).toBe("payment/deployment/payment-api");
  });

  it("continues with larger versions, and so with larger fences, even after all objects were lost", async () => {
    const first = await start();
    const before = await first.client.create(namespaces, team);
    await first.close();
    running.length = 0;
    await rm(join(directory, "objects"), { recursive: true });

    const second = await start();
    const after = await second.client.create(namespaces, team);

    expect(versionOf(after)).toBeGreaterThan(versionOf(before));
  });

  it("replaces its kubeconfig atomically: a concurrent reader gets the old or the new one", async () => {
    const first = await start();
    const before = await readFile(first.kubeconfigFile, "utf8");
    const opened = join(directory, "as-a-reader-has-opened-it");
    await link(first.kubeconfigFile, opened);
    await first.close();
    running.length = 0;

    const second = await start();

    expect(await readFile(opened, "utf8")).toBe(before);
    expect(await readFile(second.kubeconfigFile, "utf8")).toContain(second.url);
  });

  it("rejects a second process on the same directory, with the pid of the first and what to do", async () => {
    await start();

    await expect(start()).rejects.toThrow(
      new RegExp(
        `^${directory}/objects is in use by pid ${process.pid} .*: Interlock runs there already; .* --data DIR`,
      ),
    );
  });

  it("fails with the reason and what to do if the directory cannot be created", async () => {
    await rm(directory, { recursive: true });
    await writeFile(directory, "a file");

    await expect(start()).rejects.toThrow(
      `cannot write to ${directory} (EEXIST): there is a file of that name; name a writable directory`,
    );
  });

  it("writes secrets readable by their owner only, and keeps them", async () => {
    const { kubeconfigFile, close } = await start();
    const before = await readFile(kubeconfigFile, "utf8");
    for (const file of ["token", "tls.json", "kubeconfig"]) {
      expect((await stat(join(directory, file))).mode & 0o777, file).toBe(0o600);
    }
    await close();
    running.length = 0;

    await start();

    const port = /127\.0\.0\.1:\d+/;
    expect((await readFile(kubeconfigFile, "utf8")).replace(port, "")).toBe(before.replace(port, ""));
  });

  it("replaces its certificate if the listen address is another one than before", async () => {
    const first = await start();
    await first.close();
    running.length = 0;

    const log = recordingLogger();
    const { kubeconfigFile } = await start({ listen: { host: "127.0.0.2", port: 0 }, log });

    const env = process.env;
    const client = await openClient(kubeconfigFile, { env, clock: systemClock(), random: systemRandom() });
    await expect(client.get(namespaces, { name: "default" })).resolves.toBeDefined();
    expect(log.events.map(({ event }) => event)).toContain("tls certificate replaced");
  });

  it("never logs the token", async () => {
    const log = recordingLogger();

    await start({ token: "hunter2hunter2", log });

    expect(JSON.stringify(log.events)).not.toContain("hunter2");
  });
});

const team = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };

const execution = {
  apiVersion: "kubernaut.ai/v1alpha1",
  kind: "WorkflowExecution",
  metadata: { name: "wfe-1", namespace: "default" },
  spec: {
    workflowRef: { workflowId: "restart", version: "1", containerImage: "example.com/restart:1", engine: "local" },
    targetResource: "payment/deployment/payment-api",
  },
} as const;

function versionOf(outcome: CreateOutcome<KubeObject>): bigint {
  return outcome.kind === "created" ? BigInt(outcome.object.metadata.resourceVersion ?? "") : 0n;
}

async function start(given: Partial<EmbeddedApiOptions> = {}) {
  const api = await startEmbeddedApi({
    directory,
    listen: { host: "127.0.0.1", port: 0 },
    clock: systemClock(),
    random: systemRandom(),
    log: recordingLogger(),
    ...given,
  });
  running.push(api);
  return api;
}
