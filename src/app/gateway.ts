import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { keyOf, type LeaderWork, runAsLeader } from "../coordination/index.ts";
import { readOrCreate, writeDurably } from "../disk/index.ts";
import {
  type Gateway,
  type OccurrenceLog,
  openFileOccurrenceLog,
  Senders,
  type SignedBody,
  serveGateway,
  startGateway,
  type TaskRoute,
} from "../gateway/index.ts";
import { ledgerWriter } from "../ledger/index.ts";
import type { FingerprintField, Signal } from "../resources/index.ts";
import { followKubernetes, gitlabWebhooks } from "../sources/index.ts";
import { taskIntake, webhookIntake } from "../tasks/index.ts";
import type { PromMetrics } from "../telemetry/index.ts";
import { type Coordination, openCoordination } from "./coordination.ts";
import { makeDataDirectory } from "./data-directory.ts";
import { openKinds } from "./kinds.ts";
import { openRuleTargets } from "./rule-targets.ts";
import { type SecretSetting, secretFile } from "./secret-file.ts";
import { awaitListening, tlsCertificate } from "./servers.ts";
import { openSignalRoutes } from "./signal-routes.ts";
import type { StageOptions } from "./stage.ts";

export interface GatewayProcessOptions extends StageOptions {
  /** The directory of this gateway alone, with its occurrence log, its writer name and its token. */
  readonly directory: string;
  readonly metrics: PromMetrics;
}

export interface RunningGateway {
  readonly url: string;
  readonly gateway: Gateway;
  /** The file with the tokens of senders, unless they are all in the configuration. */
  readonly tokenFile: string | undefined;
  close(): Promise<void>;
}

/** File in the data directory with the URL of the running gateway, for commands that post to it. */
const gatewayUrlFile = "gateway-url";

/** Starts the gateway. It accepts signals over HTTP when the promise resolves. */
export async function openGateway(options: GatewayProcessOptions): Promise<RunningGateway> {
  const { loaded, clock, log, metrics, directory } = options;
  const config = loaded.config.gateway;
  await makeDataDirectory(directory);
  const tokenFile = await ensureTokenFile(options);
  const routes = await openSignalRoutes(loaded.config, pagerdutySecrets(options));
  const { tlsCertFile, tlsKeyFile } = config;
  const certificate = await tlsCertificate("gateway", { tlsCertFile, tlsKeyFile }, options);
  const coordination = await openCoordination({ ...options, stage: "gateway" });
  const occurrenceLog = await openOccurrenceLog(options);
  const { kinds, close: closeKinds } = openKinds(options);
  const ruleTargets = await openRuleTargets({
    ...{ directory: loaded.config.rules.dir, kinds, clock, log },
    report: options.health?.reporter("rules"),
  });
  const gateway = startGateway({
    ...options,
    kinds,
    locks: coordination.locks,
    ruleTarget: (signal) => ruleTargets.targetOf(signal),
    ruleLabels: (signal, owner) => ruleTargets.labelsOf(signal, owner),
    occurrenceLog,
    writer: await readWriterName(options),
    settings: {
      ...config,
      fingerprintFields: config.fingerprint as readonly FingerprintField[],
      flushMs: config.flushIntervalMs,
    },
  });
  const senders = await openSenders(options, tokenFile);
  await gateway.ready;
  const limits = {
    bodyBytes: config.maxBodyBytes,
    signalsPerSecond: config.signalsPerSecond,
    signalsPerRequest: config.maxSignalsPerRequest,
  };
  const { listen } = config;
  const tasks = taskRoute(options, coordination);
  const serving = serveGateway({ gateway, senders, routes, tasks, listen, certificate, limits, clock, log, metrics });
  const server = await awaitListening("gateway.listen (or GATEWAY_LISTEN)", listen, serving);
  const urlFile = join(directory, gatewayUrlFile);
  await writeDurably(urlFile, server.url);
  const stop = new AbortController();
  const following = follow(options, { gateway, coordination, signal: stop.signal });
  log.info("gateway ready", { url: server.url, directory });
  return {
    url: server.url,
    gateway,
    tokenFile,
    async close() {
      stop.abort();
      await rm(urlFile, { force: true });
      await server.close();
      await following;
      await gateway.stop();
      ruleTargets.close();
      closeKinds();
      await coordination.close();
    },
  };
}

async function openSenders({ loaded, clock, log }: GatewayProcessOptions, tokenFile: string | undefined) {
  const senders = new Senders({
    fixed: loaded.config.gateway.tokens?.reveal() ?? "",
    readFile: tokenFile === undefined ? undefined : () => readFile(tokenFile, "utf8"),
    clock,
    onProblem: (sentence) => log.warn("sender tokens not reloaded", { problem: sentence }),
  });
  await senders.refresh();
  return senders;
}

/** The paths to which GitLab posts. */
export const webhookPath = "/api/v1/webhooks/gitlab";
export const webhookPaths: readonly string[] = [webhookPath, "/webhook"];

/** Other agents receive GitLab's webhooks at the second path. */
function taskRoute(options: GatewayProcessOptions, { claims }: Coordination): TaskRoute {
  const { loaded, client, ledger, log, metrics } = options;
  const { gitlab, agent, claims: remembered } = loaded.config;
  const { namespace } = agent;
  return {
    paths: webhookPaths,
    reader: gitlabWebhooks({
      ...gitlab,
      // Without an address there is no secret either, so every webhook is refused before this.
      host: gitlab.url === undefined ? "gitlab" : new URL(gitlab.url).host,
      skipLabels: gitlab.skipLabels ?? [],
    }),
    secrets: webhookSecrets(options),
    networks: gitlab.webhookNetworks ?? [],
    intake: webhookIntake({
      intake: taskIntake({ client, ledger, namespace, log }),
      ...{ claims, rememberMs: remembered.reviewDoneTtlMs, log, metrics },
    }),
  };
}

function webhookSecrets(options: GatewayProcessOptions): TaskRoute["secrets"] {
  const { url, webhookSecret: value, webhookSecretFile: file } = options.loaded.config.gitlab;
  if (!url) return async () => [];
  return secretLines({ value, file, setting: "gitlab.webhookSecretFile" }, options);
}

function pagerdutySecrets(options: GatewayProcessOptions): SignedBody["secrets"] {
  const { pagerdutySecret: value, pagerdutySecretFile: file } = options.loaded.config.sources;
  return secretLines({ value, file, setting: "sources.pagerduty.secretFile" }, options);
}

/** Each line of the file is a secret: while it is being replaced, the old one and the new one are valid. */
function secretLines({ value, file, setting }: SecretSetting, { clock, log }: GatewayProcessOptions) {
  if (value) return async () => [value.reveal()];
  if (!file) return async () => [];
  const text = secretFile(setting, file, { clock, log });
  return async () => {
    // Every sender is rejected while the file cannot be read; each request reads it again.
    const lines = (await text({ refused: false }).catch(() => "")).split("\n");
    return lines.map((line) => line.trim()).filter((line) => line !== "");
  };
}

interface Following {
  readonly gateway: Gateway;
  readonly coordination: Coordination;
  readonly signal: AbortSignal;
}

/** Watches Kubernetes itself, if that is configured and no other replica does. */
async function follow(options: GatewayProcessOptions, { gateway, coordination, signal }: Following): Promise<void> {
  const { loaded, client, clock, random, log } = options;
  const { kubernetes, eventReasons: reasons } = loaded.config.sources;
  const { overlapMs } = loaded.config.watermarks;
  if (!(kubernetes ?? loaded.config.objects.server === "in-cluster")) return;
  const { locks, watermarks } = coordination;
  const sink = (signal: Signal) => gateway.admit(signal);
  const work: LeaderWork = ({ fence }, signal) =>
    followKubernetes({ client, reasons, sink, watermarks, overlapMs, fence, clock, random, log, signal });
  const failed = (error: unknown) => log.warn("kubernetes watch failed", { error });
  const purpose = "follow Events and nodes";
  await runAsLeader(locks, keyOf("kubernetes-source"), work, { clock, random, signal, purpose, events: { failed } });
}

async function openOccurrenceLog({
  loaded,
  directory,
  clock,
  log,
}: GatewayProcessOptions): Promise<OccurrenceLog | undefined> {
  if (loaded.config.gateway.durability === "status") return undefined;
  return openFileOccurrenceLog({ directory: join(directory, "occurrences"), clock, log });
}

/** The name of the writer belongs to the occurrence log. Without a log, counts and name are new with each process. */
async function readWriterName({ loaded, directory, random }: GatewayProcessOptions): Promise<string> {
  if (loaded.config.gateway.durability === "status") return `w-${random.id()}`;
  return ledgerWriter(join(directory, "gateway-writer"), random);
}

/** Creates a token before the first signal, so that no sender is accepted without one. */
async function ensureTokenFile({ loaded, directory, random }: GatewayProcessOptions): Promise<string | undefined> {
  const { tokens, tokenFile } = loaded.config.gateway;
  if (tokens || tokenFile) return tokenFile;
  const file = join(directory, "gateway-tokens");
  const header = "# One sender per line: NAME TOKEN, or NAME TOKEN SOURCE,SOURCE";
  await readOrCreate(file, () => `${header}\nlocal ${random.id()}${random.id()}\n`);
  return file;
}
