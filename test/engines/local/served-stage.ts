import { serveApi } from "../../../src/apiserver/http/serve.ts";
import { embeddedClient } from "../../../src/apiserver/index.ts";
import { namespaces } from "../../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { volatileStore } from "../../doubles/volatile-store.ts";
import { LocalStage, namespace } from "./local-stage.ts";

const token = "the-admin-token";

/** A stage with an API server that another process can reach. */
export class ServedStage extends LocalStage {
  readonly #served: Awaited<ReturnType<typeof serveApi>>;

  constructor(served: Awaited<ReturnType<typeof serveApi>>) {
    super(embeddedClient(served.api));
    this.#served = served;
  }

  get plan() {
    const { dataDir, workflowsRoot, witnessFile } = this;
    return { url: this.#served.url, token, dataDir, workflowsRoot, witnessFile };
  }

  override async [Symbol.asyncDispose]() {
    await super[Symbol.asyncDispose]();
    await this.#served.close();
  }
}

export async function openServedStage(): Promise<ServedStage> {
  const options = { store: volatileStore(), clock: systemClock(), random: systemRandom(), tokens: { admin: token } };
  const stage = new ServedStage(await serveApi({ ...options, acceptPlainTokens: true }));
  await stage.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  return stage;
}
