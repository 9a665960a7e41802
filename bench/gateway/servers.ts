import { join } from "node:path";
import Fastify from "fastify";
import { openApi } from "../../src/apiserver/api/open-api.ts";
import { embeddedClient } from "../../src/apiserver/index.ts";
import { type Locks, memoryLocks } from "../../src/coordination/index.ts";
import {
  type GatewaySettings,
  openFileOccurrenceLog,
  Senders,
  serveGateway,
  startGateway,
} from "../../src/gateway/index.ts";
import { type KubeClient, namespaces } from "../../src/kube/index.ts";
import { type Ledger, memoryLedger } from "../../src/ledger/index.ts";
import { builtInKinds, defaultFingerprintFields, fixedKinds, installCrds } from "../../src/resources/index.ts";
import { alertmanager } from "../../src/sources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../../test/doubles/volatile-store.ts";
import { path, token } from "./webhook.ts";

export const namespace = "kubernaut-system";

export const gatewaySettings: GatewaySettings = {
  namespace,
  fingerprintFields: defaultFingerprintFields,
  scope: "all",
  flushMs: 1_000,
  lockWaitMs: 2_000,
  lookupTimeoutMs: 2_000,
  maxOpenIncidents: 1_000_000,
  maxOpenIncidentsPerSender: 1_000_000,
};

const [clock, random, log] = [systemClock(), systemRandom(), silentLogger];

/** A gateway with its occurrence log in `folder`, on objects in memory: duplicates hardly touch them. */
export async function gatewayServer(folder: string) {
  const client = embeddedClient(await openApi({ store: volatileStore({ keptChanges: 1_000 }), clock, random }));
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await installCrds(client);
  const locks = memoryLocks({ clock, random, who: "bench" });
  return await gatewayOn({ client, locks, ledger: { ...memoryLedger(), append: async () => {} }, folder });
}

export interface Grounds {
  readonly client: KubeClient;
  readonly locks: Locks;
  readonly ledger: Ledger;
  /** Of its occurrence log. */
  readonly folder: string;
}

/** A gateway that listens, on what it is given. */
export async function gatewayOn({ client, locks, ledger, folder }: Grounds) {
  const metrics = promMetrics();
  const gateway = startGateway({
    client,
    locks,
    ledger,
    kinds: fixedKinds(builtInKinds),
    occurrenceLog: await openFileOccurrenceLog({ directory: join(folder, "occurrences"), clock, log }),
    writer: "bench",
    settings: gatewaySettings,
    clock,
    random,
    log,
    metrics,
  });
  await gateway.ready;
  const server = await serveGateway({
    gateway,
    senders: new Senders({ fixed: `bench ${token}`, readFile: undefined, clock, onProblem: console.error }),
    routes: [{ path, reader: alertmanager, retries429: false }],
    listen: { host: "127.0.0.1", port: 0 },
    limits: { bodyBytes: 1024 * 1024, signalsPerSecond: 1_000_000_000, signalsPerRequest: 1_000_000 },
    clock,
    log,
    metrics,
  });
  return {
    port: Number(new URL(server.url).port),
    async close() {
      await server.close();
      await gateway.stop();
    },
  };
}

const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };
const schema = {
  type: "object",
  required: ["version", "alerts"],
  properties: {
    version: { const: "4" },
    status: { enum: ["firing", "resolved"] },
    truncatedAlerts: { type: "integer" },
    alerts: {
      type: "array",
      items: {
        type: "object",
        required: ["status", "labels", "startsAt"],
        properties: {
          status: { enum: ["firing", "resolved"] },
          labels: { ...texts, required: ["alertname"] },
          annotations: texts,
          startsAt: { ...text, format: "date-time" },
          endsAt: { ...text, format: "date-time" },
          fingerprint: text,
        },
      },
    },
  },
};

/** The limit: Fastify that reads and checks the same body, and does nothing with it. */
export async function bareServer() {
  const app = Fastify({ bodyLimit: 1024 * 1024 });
  app.post(path, { schema: { body: schema } }, async (_request, reply) => reply.code(202).send({ status: "accepted" }));
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { port: Number(new URL(url).port), close: () => app.close() };
}
