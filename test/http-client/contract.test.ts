import { afterAll, beforeAll, describe } from "vitest";
import { contractSamples, kubeClientContract } from "../../src/kube/client.contract.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { serveApi } from "../../src/kube/embedded/serve.ts";
import { volatileStore } from "../../src/kube/embedded/volatile-store.ts";
import type { Connection } from "../../src/kube/http/connection.ts";
import { httpClient } from "../../src/kube/http/http-client.ts";
import { fromKubeconfig } from "../../src/kube/http/kubeconfig.ts";
import type { KubeObject, ResourceType } from "../../src/kube/object.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { tlsFront } from "./tls-front.ts";

const clock = systemClock();
const random = systemRandom();
const token = "the-admin-token";

describe("over TLS, with a token", () => {
  let client: KubeClient;
  let close = async () => {};

  beforeAll(async () => {
    const served = await serveApi({ store: volatileStore(), clock, random, tokens: { admin: token } });
    const front = await tlsFront(Number(new URL(served.url).port));
    client = openClient({ url: front.url, ca: front.certificate, credentials: { token } });
    await installSamples(client);
    close = async () => {
      await front.close();
      await served.close();
    };
  });
  afterAll(() => close());

  kubeClientContract("http, embedded server", () => client);
});

// Never KUBECONFIG: what a developer's shell points at is not for tests.
const { TEST_KUBECONFIG: kubeconfig } = process.env;
if (kubeconfig) {
  let client: KubeClient;

  beforeAll(async () => {
    client = openClient(await fromKubeconfig({ path: kubeconfig }));
    await installSamples(client);
  });

  kubeClientContract("http, the cluster of TEST_KUBECONFIG", () => client);
}

function openClient(connection: Connection): KubeClient {
  return httpClient({ connection, clock, random, freeze: true });
}

/** Creates the suite's own kind, and waits until it is served. */
async function installSamples(client: KubeClient) {
  await client.create(definitions, samplesDefinition);
  for (;;) {
    const served = await client.list(contractSamples).catch(() => undefined);
    if (served) return;
    await new Promise((resolve) => clock.after(100, () => resolve(undefined)));
  }
}

const definitions: ResourceType = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

const samplesDefinition = {
  metadata: { name: "samples.contract.interlock.dev" },
  spec: {
    group: "contract.interlock.dev",
    scope: "Namespaced",
    names: { plural: "samples", singular: "sample", kind: "Sample", listKind: "SampleList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { size: { type: "integer" } } },
              status: { type: "object", properties: { phase: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
} as KubeObject;
