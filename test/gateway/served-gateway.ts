import { webhookPaths } from "../../src/app/gateway.ts";
import { signalRoutes } from "../../src/app/signal-routes.ts";
import { memoryClaims, memoryLocks } from "../../src/coordination/index.ts";
import {
  type GatewayOptions,
  Senders,
  type ServerLimits,
  type SignalRoute,
  serveGateway,
  startGateway,
} from "../../src/gateway/index.ts";
import type { Certificate } from "../../src/http/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { memoryLedger } from "../../src/ledger/index.ts";
import {
  builtInKinds,
  fixedKinds,
  installCrds,
  type RemediationRequest,
  remediationRequests,
} from "../../src/resources/index.ts";
import { gitlabWebhooks } from "../../src/sources/index.ts";
import { taskIntake, webhookIntake } from "../../src/tasks/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { namespace, settings } from "./gateway-world.ts";

/** Of senders, and the secret of webhooks. */
export const token = "sixteen-letters-or-more";

export interface ServedOptions extends Partial<GatewayOptions> {
  readonly limits?: Partial<ServerLimits>;
  readonly tokens?: string;
  readonly readFile?: () => Promise<string>;
  readonly wrap?: (client: KubeClient) => KubeClient;
  readonly certificate?: Certificate;
  readonly routes?: readonly SignalRoute[];
}

/** A gateway over HTTP, on an API server in memory, in real time. */
export async function servedGateway({
  limits,
  tokens = `test ${token}`,
  readFile,
  wrap,
  certificate,
  routes = signalRoutes,
  ...options
}: ServedOptions = {}) {
  const clock = systemClock();
  const random = systemRandom();
  const log = recordingLogger();
  const metrics = promMetrics();
  const ledger = memoryLedger();
  const cluster = testCluster({ clock, random, namespaces: [namespace, "payment"] });
  const client = cluster.client();
  await installCrds(client);
  const gateway = startGateway({
    client: wrap?.(client) ?? client,
    locks: memoryLocks({ clock, random, who: "test" }),
    ledger,
    kinds: fixedKinds(builtInKinds),
    writer: "gw-1",
    settings,
    clock,
    random,
    log,
    metrics,
    ...options,
  });
  const senders = new Senders({
    fixed: tokens,
    readFile,
    clock,
    onProblem: (problem) => log.warn("senders", { problem }),
    freshForMs: 0,
  });
  const tasks = {
    paths: webhookPaths,
    reader: gitlabWebhooks({
      ...{ host: "gitlab.example.com", username: "copilot", projects: undefined },
      ...{ reviewDrafts: false, skipLabels: ["no-review"] },
    }),
    secrets: async () => [token],
    networks: [],
    intake: webhookIntake({
      intake: taskIntake({ client, ledger: options.ledger ?? ledger, namespace, log }),
      ...{ claims: memoryClaims({ clock, random }), rememberMs: 60_000, log, metrics },
    }),
  };
  await gateway.ready;
  const server = await serveGateway({
    gateway,
    senders,
    routes,
    tasks,
    listen: { host: "127.0.0.1", port: 0 },
    certificate,
    limits: { bodyBytes: 100_000, signalsPerSecond: 1_000_000, signalsPerRequest: 5_000, ...limits },
    clock,
    log,
    metrics,
  });

  async function post(path: string, body: unknown, { headers = {}, method = "POST" } = {}) {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text || "{}") };
  }
  return {
    url: server.url,
    gateway,
    client,
    ledger,
    log,
    metrics,
    post,
    incidents: async (): Promise<readonly RemediationRequest[]> =>
      (await client.list(remediationRequests, { namespace })).items,
    async close() {
      await server.close();
      await gateway.stop();
    },
  };
}

export type ServedGateway = Awaited<ReturnType<typeof servedGateway>>;
