import { file, oneOf, secret, text } from "../kinds.ts";
import { mailAddress, mailAddresses, mailServer, secretUrl, slackChannelId } from "../notice-kinds.ts";
import { optional, setting } from "../setting.ts";
import { httpUrl } from "../url-kinds.ts";

/** The settings of the services that notices are sent to, as part of the section `notify`. */
export const notifyChannels = {
  webhookUrl: optional(secretUrl(), { env: "NOTIFY_WEBHOOK_URL", about: "Where notices are posted to as JSON." }),
  webhookSecret: optional(secret("a text"), {
    env: "NOTIFY_WEBHOOK_SECRET",
    about: "The key that signs the notices posted to `notify.webhookUrl` (HMAC-SHA256).",
  }),
  webhookSecretFile: optional(file(), {
    env: "NOTIFY_WEBHOOK_SECRET_FILE",
    about: "A file with `notify.webhookSecret`, instead.",
  }),
  slackUrl: optional(secretUrl(), {
    env: "NOTIFY_SLACK_URL",
    about: "The incoming webhook of a Slack channel. It cannot thread or edit messages: `notify.slackToken` can.",
  }),
  slackUrlFile: optional(file(), { env: "NOTIFY_SLACK_URL_FILE", about: "A file with `notify.slackUrl`, instead." }),
  slackToken: optional(secret("a bot token of Slack"), {
    env: "NOTIFY_SLACK_TOKEN",
    about:
      "A bot token of Slack, instead of a webhook, with the scopes `chat:write` and `channels:history` (`groups:history` for a private channel).",
  }),
  slackTokenFile: optional(file(), {
    env: "NOTIFY_SLACK_TOKEN_FILE",
    about: "A file with `notify.slackToken`, instead.",
  }),
  slackChannel: optional(slackChannelId(), {
    env: "NOTIFY_SLACK_CHANNEL",
    about: "The id of the channel that the bot posts to. The bot has to be a member of it.",
  }),
  slackApiUrl: setting(httpUrl(), {
    default: "https://slack.com/api",
    env: "NOTIFY_SLACK_API_URL",
    about: "The API of Slack that the bot uses.",
  }),
  mattermostUrl: optional(secretUrl(), {
    env: "NOTIFY_MATTERMOST_URL",
    about: "An incoming webhook of Mattermost, or of a service that is compatible with it.",
  }),
  mattermostUrlFile: optional(file(), {
    env: "NOTIFY_MATTERMOST_URL_FILE",
    about: "A file with `notify.mattermostUrl`, instead.",
  }),
  pagerdutyRoutingKey: optional(secret("the integration key of a PagerDuty service"), {
    env: "NOTIFY_PAGERDUTY_ROUTING_KEY",
    about: "The integration key of a PagerDuty service with an Events API v2 integration.",
  }),
  pagerdutyRoutingKeyFile: optional(file(), {
    env: "NOTIFY_PAGERDUTY_ROUTING_KEY_FILE",
    about: "A file with `notify.pagerdutyRoutingKey`, instead.",
  }),
  pagerdutyUrl: setting(httpUrl(), {
    default: "https://events.pagerduty.com",
    env: "NOTIFY_PAGERDUTY_URL",
    about: "The Events API of PagerDuty. In the EU: `https://events.eu.pagerduty.com`.",
  }),
  opsgenieApiKey: optional(secret("the key of an API integration of Opsgenie"), {
    env: "NOTIFY_OPSGENIE_API_KEY",
    about: "The key of an API integration of Opsgenie.",
  }),
  opsgenieApiKeyFile: optional(file(), {
    env: "NOTIFY_OPSGENIE_API_KEY_FILE",
    about: "A file with `notify.opsgenieApiKey`, instead.",
  }),
  opsgenieUrl: setting(httpUrl(), {
    default: "https://api.opsgenie.com",
    env: "NOTIFY_OPSGENIE_URL",
    about: "The Alert API of Opsgenie. In the EU: `https://api.eu.opsgenie.com`.",
  }),
  teamsUrl: optional(secretUrl(), {
    env: "NOTIFY_TEAMS_URL",
    about: "The webhook of a Teams workflow that posts Adaptive Cards to a channel.",
  }),
  teamsUrlFile: optional(file(), { env: "NOTIFY_TEAMS_URL_FILE", about: "A file with `notify.teamsUrl`, instead." }),
  smtpServer: optional(mailServer(), { env: "NOTIFY_SMTP_SERVER", about: "The server that mail is sent through." }),
  smtpEncryption: setting(oneOf("required", "off"), {
    default: "required",
    env: "NOTIFY_SMTP_ENCRYPTION",
    about:
      "Whether the connection to the mail server has to be encrypted. `off` sends in clear text, and allows no login.",
  }),
  smtpCaFile: optional(file(), {
    env: "NOTIFY_SMTP_CA_FILE",
    about: "A file with the authority (PEM) of the mail server's certificate, if it is not a public one.",
  }),
  smtpUser: optional(text("the user name of the mail server's login"), {
    env: "NOTIFY_SMTP_USER",
    about: "The user of the login at the mail server, if it needs one.",
  }),
  smtpPassword: optional(secret("the password of that user"), {
    env: "NOTIFY_SMTP_PASSWORD",
    about: "The password of `notify.smtpUser`.",
  }),
  smtpPasswordFile: optional(file(), {
    env: "NOTIFY_SMTP_PASSWORD_FILE",
    about: "A file with `notify.smtpPassword`, instead.",
  }),
  emailFrom: optional(mailAddress(), { env: "NOTIFY_EMAIL_FROM", about: "The sender of mail." }),
  emailTo: optional(mailAddresses(), { env: "NOTIFY_EMAIL_TO", about: "The recipients of mail." }),
};
