import { file, secret, structures, words, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const sources = {
  kubernetes: optional(yesOrNo(), {
    env: "SOURCES_KUBERNETES",
    about:
      "Whether the gateway also watches Events and the conditions of nodes; one gateway at a time does. Unless set, it does in a cluster (`objects.server` is `in-cluster`).",
  }),
  eventReasons: setting(words(), {
    default:
      "BackOff, Evicted, EvictionThresholdMet, FailedMount, FailedScheduling, FreeDiskSpaceFailed, OOMKilling, SystemOOM, Unhealthy",
    about: "The reasons of Events of the type Warning that are signals.",
  }),
  alertmanagerProvenance: optional(file(), {
    path: "sources.alertmanager.provenance",
    env: "ALERTMANAGER_PROVENANCE",
    about:
      "A YAML file with rows that come before the built-in table of label provenance, which maps the labels of an alert to objects. See docs/gateway.md.",
  }),
  maps: optional(structures("expressions below it, such as name: item.title"), {
    path: "sources.<name>.map",
    about:
      "How the payloads of a sender become signals: CEL expressions for name, target and other fields. They are posted to `/api/v1/signals/<name>`. For pagerduty, datadog and cloudevents it replaces fields of the built-in mapping. See docs/senders.md.",
  }),
  pagerdutySecret: optional(secret("the secret of the webhook subscription"), {
    path: "sources.pagerduty.secret",
    env: "PAGERDUTY_WEBHOOK_SECRET",
    about: "Accepts webhooks of PagerDuty without a token if they are signed with this secret.",
  }),
  pagerdutySecretFile: optional(file(), {
    path: "sources.pagerduty.secretFile",
    env: "PAGERDUTY_WEBHOOK_SECRET_FILE",
    about: "A file with such secrets, one per line, read again every few seconds so that they can be replaced.",
  }),
};
