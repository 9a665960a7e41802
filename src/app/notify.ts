import { readFile } from "node:fs/promises";
import type { Config } from "../config/index.ts";
import {
  addresses,
  type Channel,
  consoleChannel,
  emailChannel,
  fileChannel,
  mattermostChannel,
  opsgenieChannel,
  pagerdutyChannel,
  slackBotChannel,
  slackWebhookChannel,
  startNotifier,
  teamsChannel,
  webhookChannel,
} from "../notify/index.ts";
import { openCoordination } from "./coordination.ts";
import { secretFile } from "./secret-file.ts";
import { type Stage, type StageOptions, toStage } from "./stage.ts";

export interface NotifyProcessOptions extends StageOptions {
  /** Where the console channel prints, one line at a time. */
  readonly print: (line: string) => void;
}

/** Starts the notifier with the configured channels. */
export async function openNotify(options: NotifyProcessOptions): Promise<Stage> {
  const { loaded, log } = options;
  const { routes, digestWindowMs, maxAttempts, backoffBaseMs, backoffMaxMs, timeoutMs, retentionMs } =
    loaded.config.notify;
  const channels = await openChannels(options);
  const known = new Set(["all", ...channels.map(({ name }) => name)]);
  for (const name of new Set(routes.flatMap((route) => route.channels))) {
    if (!known.has(name)) log.warn("route to unknown channel", { channel: name });
  }
  const coordination = await openCoordination({ ...options, stage: "notify" });
  const notifier = startNotifier({
    ...options,
    locks: coordination.locks,
    channels,
    routes,
    settings: {
      digestWindowMs,
      maxAttempts,
      backoff: { baseMs: backoffBaseMs, maxMs: backoffMaxMs, jitter: 0.2 },
      retentionMs,
    },
    timeoutMs,
  });
  return toStage(notifier, async () => {
    await notifier.stop();
    await coordination.close();
  });
}

async function openChannels({ loaded, client, clock, print }: NotifyProcessOptions): Promise<readonly Channel[]> {
  const { notify } = loaded.config;
  const allowed = { addresses: addresses(notify.allowedNetworks ?? []) };
  const nowMs = () => client.serverNowMs();
  const secretOf = async (field: SecretField): Promise<string | undefined> => {
    const path = notify[`${field}File`];
    const text = notify[field]?.reveal();
    if (text !== undefined || path === undefined) return text;
    return await secretFile(`notify.${field}File`, path, { clock })({ refused: false });
  };
  const { slackChannel, slackApiUrl, pagerdutyUrl, opsgenieUrl } = notify;
  const webhookUrl = notify.webhookUrl?.reveal();
  const webhookSecret = await secretOf("webhookSecret");
  const slackUrl = await secretOf("slackUrl");
  const slackToken = await secretOf("slackToken");
  if (slackUrl && slackToken) throw new TypeError("notify.slackUrl and notify.slackToken are both set; remove one");
  const mattermostUrl = await secretOf("mattermostUrl");
  const teamsUrl = await secretOf("teamsUrl");
  const routingKey = await secretOf("pagerdutyRoutingKey");
  const apiKey = await secretOf("opsgenieApiKey");
  const email = await emailOptions(notify, await secretOf("smtpPassword"));
  return [
    notify.console && consoleChannel(print),
    notify.file && fileChannel(notify.file),
    webhookUrl && webhookChannel({ url: webhookUrl, secret: webhookSecret, nowMs, ...allowed }),
    slackUrl && slackWebhookChannel({ url: slackUrl, ...allowed }),
    slackToken &&
      slackChannel &&
      slackBotChannel({ apiUrl: slackApiUrl, token: slackToken, channel: slackChannel, ...allowed }),
    mattermostUrl && mattermostChannel({ url: mattermostUrl, ...allowed }),
    teamsUrl && teamsChannel({ url: teamsUrl, ...allowed }),
    routingKey && pagerdutyChannel({ url: pagerdutyUrl, routingKey, ...allowed }),
    apiKey && opsgenieChannel({ url: opsgenieUrl, apiKey, ...allowed }),
    email && emailChannel({ ...email, nowMs, ...allowed }),
  ].filter((channel) => typeof channel === "object");
}

/** Returns undefined if mail is not configured. */
async function emailOptions(notify: Config["notify"], password: string | undefined) {
  const { smtpServer, smtpEncryption, smtpCaFile, smtpUser, emailFrom: from, emailTo: to } = notify;
  if (!smtpServer || !from || !to) return undefined;
  const { host, port, tls } = smtpServer;
  const security = tls ? "tls" : smtpEncryption === "off" ? "none" : "starttls";
  const login = smtpUser && password ? { user: smtpUser, password } : undefined;
  // Without encryption, every system on the network path could read the password.
  if (login && security === "none") throw new TypeError("notify.smtpUser needs notify.smtpEncryption: required");
  const ca = smtpCaFile === undefined ? undefined : await readFile(smtpCaFile, "utf8");
  return { server: { host, port, security }, login, ca, from, to } as const;
}

/** Settings that may also be in a file, which another setting names. */
type SecretField =
  | "webhookSecret"
  | "slackUrl"
  | "slackToken"
  | "mattermostUrl"
  | "teamsUrl"
  | "pagerdutyRoutingKey"
  | "opsgenieApiKey"
  | "smtpPassword";
