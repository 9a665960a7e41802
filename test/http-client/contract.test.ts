import { afterAll, beforeAll, describe } from "vitest";
import { serveApi } from "../../src/apiserver/http/serve.ts";
import { installContractSamples, kubeClientContract } from "../../src/kube/client.contract.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Connection } from "../../src/kube/connection/connection.ts";
import { fromKubeconfig } from "../../src/kube/connection/kubeconfig.ts";
import { httpClient } from "../../src/kube/http/http-client.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../doubles/volatile-store.ts";
import { tlsFront } from "./tls-front.ts";

const clock = systemClock();
const random = systemRandom();
const token = "the-admin-token";

describe("over TLS, with a token", () => {
  let client: KubeClient;
  let close = async () => {};

  beforeAll(async () => {
    const tokens = { admin: token };
    const served = await serveApi({ store: volatileStore(), clock, random, tokens, acceptPlainTokens: true });
    const front = await tlsFront(Number(new URL(served.url).port));
    client = openClient({ url: front.url, ca: front.certificate, credentials: { token } });
    await installContractSamples(client);
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
  let remove = async () => {};

  beforeAll(async () => {
    client = openClient(await fromKubeconfig({ path: kubeconfig, env: process.env }));
    remove = await installContractSamples(client);
  });
  afterAll(() => remove());

  kubeClientContract("http, the cluster of TEST_KUBECONFIG", () => client);
}

function openClient(connection: Connection): KubeClient {
  return httpClient({ connection, clock, random });
}
