import { count, duration, file, yesOrNo } from "../kinds.ts";
import { networks, noticeRoutes } from "../notice-kinds.ts";
import { optional, setting } from "../setting.ts";
import { notifyChannels } from "./notify-channels.ts";

export const notify = {
  console: setting(yesOrNo(), {
    default: "true",
    env: "NOTIFY_CONSOLE",
    about: "Whether notices are printed by the process that delivers them.",
  }),
  file: optional(file(), { env: "NOTIFY_FILE", about: "A file that notices are appended to, one line of JSON each." }),
  ...notifyChannels,
  routes: setting(noticeRoutes(), {
    default: "any -> all",
    env: "NOTIFY_ROUTES",
    about: "Which notices go to which channels.",
  }),
  allowedNetworks: optional(networks(), {
    env: "NOTIFY_ALLOWED_NETWORKS",
    about: "Private networks that notices may be posted to. Others, and this machine, are refused.",
  }),
  digestWindowMs: setting(duration(), {
    default: "5m",
    env: "NOTIFY_DIGEST_WINDOW",
    about:
      "How long skips and waiting incidents of one target, and incidents that no rule matches, are collected for one digest. `0s`: each by itself, at once.",
  }),
  maxAttempts: setting(count({ max: 20 }), {
    default: "8",
    env: "NOTIFY_MAX_ATTEMPTS",
    about: "The maximum number of attempts at a notice on one channel.",
  }),
  backoffBaseMs: setting(duration({ min: "10ms" }), {
    path: "notify.backoff.base",
    default: "5s",
    env: "NOTIFY_BACKOFF_BASE",
    about: "The delay before the second attempt. It doubles with each further one.",
  }),
  backoffMaxMs: setting(duration({ min: "10ms" }), {
    path: "notify.backoff.max",
    default: "10m",
    env: "NOTIFY_BACKOFF_MAX",
    about: "The longest delay between two attempts.",
  }),
  timeoutMs: setting(duration({ min: "10ms" }), {
    default: "10s",
    env: "NOTIFY_TIMEOUT",
    about: "How long one attempt on a channel may take.",
  }),
  retentionMs: setting(duration({ min: "1m" }), {
    default: "168h",
    env: "NOTIFY_RETENTION",
    about: "How long a notice is kept after it was delivered, digested or given up. The ledger keeps its row.",
  }),
};
