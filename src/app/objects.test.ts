import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { type ApiServer, startApiServer } from "../../test/services/api-server.ts";
import { loadConfig } from "../config/index.ts";
import { keyOf } from "../coordination/index.ts";
import { httpClient } from "../kube/index.ts";
import { promMetrics } from "../telemetry/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { openCoordination } from "./coordination.ts";
import { type ObjectsOptions, openObjects } from "./objects.ts";

const clock = systemClock();
const random = systemRandom();
let api: ApiServer;

beforeAll(async () => {
  api = await startApiServer();
});
afterAll(() => api.stop());

describe("objects as configured", () => {
  it("are in the embedded server by default", async () => {
    const own = httpClient({ connection: { url: "https://127.0.0.1:1" }, clock, random });

    expect((await open({}, async () => ({ client: own }))).client).toBe(own);
  });

  it("are in the server of a kubeconfig, and locks on it exclude those of another process", async () => {
    const env = { OBJECTS_SERVER: "kubeconfig", INTERLOCK_KUBECONFIG: api.kubeconfigFile };
    const [one, two] = [await coordination(env), await coordination(env)];

    const lease = await one.locks.acquire(keyOf("a"));
    const busy = await two.locks.tryAcquire(keyOf("a"));

    expect(busy).toBeUndefined();
    lease.assertHeld();
    await one.close();
    await two.close();
  });

  it("are read from the named context", async () => {
    const env = { OBJECTS_SERVER: "kubeconfig", INTERLOCK_KUBECONFIG: api.kubeconfigFile };

    await expect(open({ ...env, INTERLOCK_KUBE_CONTEXT: "elsewhere" })).rejects.toThrow(
      'there is no context "elsewhere"',
    );
  });

  it("are in the cluster of this pod, and fail outside of a pod", async () => {
    await expect(open({ OBJECTS_SERVER: "in-cluster" })).rejects.toThrow("this process does not run in a pod");
  });

  it("that cannot be reached fail at once, with the URL of the server", async () => {
    const proxied = api.kubeconfigAt(1);

    await expect(open({ OBJECTS_SERVER: "kubeconfig", INTERLOCK_KUBECONFIG: proxied })).rejects.toThrow(
      /the API server at https:\/\/127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/,
    );
  });
});

function configured(env: Record<string, string>) {
  const loaded = loadConfig({ env });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  return loaded;
}

function open(env: Record<string, string>, embedded: ObjectsOptions["embedded"] = notOurs) {
  return openObjects({ config: configured(env).config, embedded, clock, random, env });
}

async function coordination(env: Record<string, string>) {
  const { client: kube } = await open(env);
  const [log, metrics] = [recordingLogger(), promMetrics()];
  return openCoordination({ loaded: configured(env), stage: "gateway", clock, random, log, metrics, client: kube });
}

async function notOurs(): Promise<never> {
  throw new Error("the embedded server was started");
}
