import {
  addresses,
  type Channel,
  consoleChannel,
  fileChannel,
  slackChannel,
  startNotifier,
  webhookChannel,
} from "../notify/index.ts";
import type { Clock } from "../time/index.ts";
import { openCoordination } from "./coordination.ts";
import { secretFile } from "./secret-file.ts";
import type { Stage, StageOptions } from "./stage.ts";

export interface NotifyProcessOptions extends StageOptions {
  /** Where the console channel prints, one line at a time. */
  readonly print: (line: string) => void;
}

/** Starts to deliver notices on the channels that the configuration names. */
export async function openNotify(options: NotifyProcessOptions): Promise<Stage> {
  const { loaded, client, ledger, clock, random, log, metrics } = options;
  const { routes, digestWindowMs, maxAttempts, backoffBaseMs, backoffMaxMs, timeoutMs, retentionMs } =
    loaded.config.notify;
  const channels = await channelsOf(options);
  const known = new Set(["all", ...channels.map(({ name }) => name)]);
  for (const name of new Set(routes.flatMap((route) => route.channels))) {
    if (!known.has(name)) log.warn("route to unknown channel", { channel: name });
  }
  const coordination = await openCoordination({ loaded, stage: "notify", clock, random, log, metrics, kube: client });
  const notifier = startNotifier({
    client,
    locks: coordination.locks,
    ledger,
    channels,
    routes,
    settings: {
      digestWindowMs,
      maxAttempts,
      backoff: { baseMs: backoffBaseMs, maxMs: backoffMaxMs, jitter: 0.2 },
      retentionMs,
    },
    timeoutMs,
    clock,
    random,
    log,
    metrics,
  });
  return {
    ready: notifier.ready,
    get isReady() {
      return notifier.isReady;
    },
    get problem() {
      return notifier.problem;
    },
    async close() {
      await notifier.stop();
      await coordination.close();
    },
  };
}

async function channelsOf({ loaded, client, clock, print }: NotifyProcessOptions): Promise<readonly Channel[]> {
  const { notify } = loaded.config;
  const allowed = addresses(notify.allowedNetworks ?? []);
  const secret =
    notify.webhookSecret?.reveal() ?? (await textIn("notify.webhookSecretFile", notify.webhookSecretFile, clock));
  const slackUrl = notify.slackUrl?.reveal() ?? (await textIn("notify.slackUrlFile", notify.slackUrlFile, clock));
  const webhookUrl = notify.webhookUrl?.reveal();
  const nowMs = () => client.serverNowMs();
  return [
    ...(notify.console ? [consoleChannel(print)] : []),
    ...(notify.file ? [fileChannel(notify.file)] : []),
    ...(webhookUrl ? [webhookChannel({ url: webhookUrl, secret, addresses: allowed, nowMs })] : []),
    ...(slackUrl ? [slackChannel({ url: slackUrl, addresses: allowed })] : []),
  ];
}

async function textIn(setting: string, path: string | undefined, clock: Clock): Promise<string | undefined> {
  return path === undefined ? undefined : await secretFile(setting, path, { clock })({ refused: false });
}
