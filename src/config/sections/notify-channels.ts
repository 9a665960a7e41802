import { file, httpUrl, oneOf, secret, text } from "../kinds.ts";
import {
  type MailServerSetting,
  mailAddress,
  mailAddresses,
  mailServer,
  secretUrl,
  slackChannelId,
} from "../notice-kinds.ts";
import type { Secret } from "../secret.ts";
import { optional, setting } from "../setting.ts";

/** The settings of the services that notices are sent to, as part of the section `notify`. */
export const notifyChannels = {
  webhookUrl: optional<Secret>({
    kind: secretUrl(),
    env: "NOTIFY_WEBHOOK_URL",
    about: "Where notices are posted to as JSON.",
  }),
  webhookSecret: optional<Secret>({
    kind: secret("a text"),
    env: "NOTIFY_WEBHOOK_SECRET",
    about: "The key that signs posted notices (HMAC-SHA256).",
  }),
  webhookSecretFile: optional<string>({
    kind: file(),
    env: "NOTIFY_WEBHOOK_SECRET_FILE",
    about: "A file with that secret, instead.",
  }),
  slackUrl: optional<Secret>({
    kind: secretUrl(),
    env: "NOTIFY_SLACK_URL",
    about: "The incoming webhook of a Slack channel. It cannot thread or edit messages: `notify.slackToken` can.",
  }),
  slackUrlFile: optional<string>({
    kind: file(),
    env: "NOTIFY_SLACK_URL_FILE",
    about: "A file with that URL, instead.",
  }),
  slackToken: optional<Secret>({
    kind: secret("a bot token of Slack"),
    env: "NOTIFY_SLACK_TOKEN",
    about:
      "A bot token of Slack, instead of a webhook, with the scopes `chat:write` and `channels:history` (`groups:history` for a private channel).",
  }),
  slackTokenFile: optional<string>({
    kind: file(),
    env: "NOTIFY_SLACK_TOKEN_FILE",
    about: "A file with that token, instead.",
  }),
  slackChannel: optional<string>({
    kind: slackChannelId(),
    env: "NOTIFY_SLACK_CHANNEL",
    about: "The id of the channel that the bot posts to. The bot has to be a member of it.",
  }),
  slackApiUrl: setting({
    kind: httpUrl(),
    default: "https://slack.com/api",
    env: "NOTIFY_SLACK_API_URL",
    about: "The API that the bot uses.",
  }),
  mattermostUrl: optional<Secret>({
    kind: secretUrl(),
    env: "NOTIFY_MATTERMOST_URL",
    about: "An incoming webhook of Mattermost, or of a service that is compatible with it.",
  }),
  mattermostUrlFile: optional<string>({
    kind: file(),
    env: "NOTIFY_MATTERMOST_URL_FILE",
    about: "A file with that URL, instead.",
  }),
  pagerdutyRoutingKey: optional<Secret>({
    kind: secret("the integration key of a PagerDuty service"),
    env: "NOTIFY_PAGERDUTY_ROUTING_KEY",
    about: "The integration key of a PagerDuty service with an Events API v2 integration.",
  }),
  pagerdutyRoutingKeyFile: optional<string>({
    kind: file(),
    env: "NOTIFY_PAGERDUTY_ROUTING_KEY_FILE",
    about: "A file with that key, instead.",
  }),
  pagerdutyUrl: setting({
    kind: httpUrl(),
    default: "https://events.pagerduty.com",
    env: "NOTIFY_PAGERDUTY_URL",
    about: "The Events API. In the EU: `https://events.eu.pagerduty.com`.",
  }),
  opsgenieApiKey: optional<Secret>({
    kind: secret("the key of an API integration of Opsgenie"),
    env: "NOTIFY_OPSGENIE_API_KEY",
    about: "The key of an API integration of Opsgenie.",
  }),
  opsgenieApiKeyFile: optional<string>({
    kind: file(),
    env: "NOTIFY_OPSGENIE_API_KEY_FILE",
    about: "A file with that key, instead.",
  }),
  opsgenieUrl: setting({
    kind: httpUrl(),
    default: "https://api.opsgenie.com",
    env: "NOTIFY_OPSGENIE_URL",
    about: "The Alert API. In the EU: `https://api.eu.opsgenie.com`.",
  }),
  teamsUrl: optional<Secret>({
    kind: secretUrl(),
    env: "NOTIFY_TEAMS_URL",
    about: "The webhook of a Teams workflow that posts Adaptive Cards to a channel.",
  }),
  teamsUrlFile: optional<string>({
    kind: file(),
    env: "NOTIFY_TEAMS_URL_FILE",
    about: "A file with that URL, instead.",
  }),
  smtpServer: optional<MailServerSetting>({
    kind: mailServer(),
    env: "NOTIFY_SMTP_SERVER",
    about: "The server that mail is sent through.",
  }),
  smtpEncryption: setting({
    kind: oneOf("required", "off"),
    default: "required",
    env: "NOTIFY_SMTP_ENCRYPTION",
    about: "Whether the connection has to be encrypted. `off` sends in clear text, and allows no login.",
  }),
  smtpCaFile: optional<string>({
    kind: file(),
    env: "NOTIFY_SMTP_CA_FILE",
    about: "A file with the authority (PEM) of the server's certificate, if it is not a public one.",
  }),
  smtpUser: optional<string>({
    kind: text("the user name of the mail server's login"),
    env: "NOTIFY_SMTP_USER",
    about: "The user of the login, if the server needs one.",
  }),
  smtpPassword: optional<Secret>({
    kind: secret("the password of that user"),
    env: "NOTIFY_SMTP_PASSWORD",
    about: "The password of that user.",
  }),
  smtpPasswordFile: optional<string>({
    kind: file(),
    env: "NOTIFY_SMTP_PASSWORD_FILE",
    about: "A file with that password, instead.",
  }),
  emailFrom: optional<string>({
    kind: mailAddress(),
    env: "NOTIFY_EMAIL_FROM",
    about: "The sender of mail.",
  }),
  emailTo: optional<readonly string[]>({
    kind: mailAddresses(),
    env: "NOTIFY_EMAIL_TO",
    about: "The recipients of mail.",
  }),
};
