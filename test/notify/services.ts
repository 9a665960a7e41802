import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../../src/apiserver/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { startMattermost } from "./doubles/mattermost.ts";
import { startOpsgenie } from "./doubles/opsgenie.ts";
import { startPagerduty } from "./doubles/pagerduty.ts";
import type { ServiceDouble } from "./doubles/service.ts";
import { startSlack, startSlackWebhook } from "./doubles/slack.ts";
import { startSmtp } from "./doubles/smtp.ts";
import { startTeams } from "./doubles/teams.ts";

/** A service with its double, and how the notifier is configured for it. */
export interface TestedService {
  readonly name: string;
  readonly secret: string;
  /** Whether later messages about an incident join the first one. */
  readonly hasThreads: boolean;
  /** Whether notices of the severity info are shown. */
  readonly showsInfo: boolean;
  /** The status of a service that is busy, and the error about it. Absent: 503 over HTTP. */
  readonly busy?: { readonly status: number; readonly error: string };
  start(secret: string): Promise<ServiceDouble>;
  env(port: number, secret: string): Record<string, string>;
}

function createMailCertificate() {
  const { certificate, key } = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
  const directory = mkdtempSync(join(tmpdir(), "interlock-notify-mail-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "ca.pem");
  writeFileSync(file, certificate);
  return { certificate, key, file };
}

/** The certificate of the mail server, which is its own authority. */
export const mailCertificate = createMailCertificate();

const hooks = { hasThreads: false, showsInfo: true };
const host = (port: number) => `http://127.0.0.1:${port}`;

export const testedServices: readonly TestedService[] = [
  {
    name: "Slack as a bot",
    secret: "xoxb-0123456789-secret",
    hasThreads: true,
    showsInfo: true,
    start: (token) => startSlack({ token, channel: "C024BE91L" }),
    env: (port, token) => ({
      NOTIFY_SLACK_TOKEN: token,
      NOTIFY_SLACK_CHANNEL: "C024BE91L",
      NOTIFY_SLACK_API_URL: `${host(port)}/api`,
    }),
  },
  {
    ...hooks,
    name: "a webhook of Slack",
    secret: "T0secret/B0secret",
    start: (secret) => startSlackWebhook({ path: `/services/${secret}` }),
    env: (port, secret) => ({ NOTIFY_SLACK_URL: `${host(port)}/services/${secret}` }),
  },
  {
    ...hooks,
    name: "Mattermost",
    secret: "s3cr3thook",
    start: (secret) => startMattermost({ path: `/hooks/${secret}` }),
    env: (port, secret) => ({ NOTIFY_MATTERMOST_URL: `${host(port)}/hooks/${secret}` }),
  },
  {
    ...hooks,
    name: "Teams",
    secret: "s1gnature-secret",
    start: (secret) => startTeams({ path: `/workflows/w1/triggers/manual/paths/invoke?api-version=1&sig=${secret}` }),
    env: (port, secret) => ({
      NOTIFY_TEAMS_URL: `${host(port)}/workflows/w1/triggers/manual/paths/invoke?api-version=1&sig=${secret}`,
    }),
  },
  {
    name: "PagerDuty",
    secret: "0123456789abcdef0123456789abcdef",
    hasThreads: true,
    showsInfo: false,
    start: (routingKey) => startPagerduty({ routingKey }),
    env: (port, key) => ({ NOTIFY_PAGERDUTY_ROUTING_KEY: key, NOTIFY_PAGERDUTY_URL: host(port) }),
  },
  {
    name: "Opsgenie",
    secret: "00000000-1111-2222-3333-444444444444",
    hasThreads: true,
    showsInfo: false,
    start: (apiKey) => startOpsgenie({ apiKey }),
    env: (port, key) => ({ NOTIFY_OPSGENIE_API_KEY: key, NOTIFY_OPSGENIE_URL: host(port) }),
  },
  {
    name: "mail",
    secret: "smtp-pa55word",
    hasThreads: true,
    showsInfo: true,
    busy: { status: 421, error: "127.0.0.1 responded 421" },
    start: (password) => startSmtp({ user: "interlock", password, ...mailCertificate }),
    env: (port, password) => ({
      NOTIFY_SMTP_SERVER: `smtp://127.0.0.1:${port}`,
      NOTIFY_SMTP_CA_FILE: mailCertificate.file,
      NOTIFY_SMTP_USER: "interlock",
      NOTIFY_SMTP_PASSWORD: password,
      NOTIFY_EMAIL_FROM: "interlock@example.com",
      NOTIFY_EMAIL_TO: "oncall@example.com, second@example.com",
    }),
  },
];
