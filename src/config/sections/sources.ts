import { file, words, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const sources = {
  kubernetes: setting({
    kind: yesOrNo(),
    default: "false",
    env: "SOURCES_KUBERNETES",
    about: "Whether the gateway also follows Events and the conditions of nodes. One gateway at a time does.",
  }),
  eventReasons: setting({
    kind: words(),
    default:
      "BackOff, Evicted, EvictionThresholdMet, FailedMount, FailedScheduling, FreeDiskSpaceFailed, OOMKilling, SystemOOM, Unhealthy",
    about: "The reasons of Events of the type Warning that are signals.",
  }),
  alertmanagerProvenance: optional<string>({
    kind: file(),
    path: "sources.alertmanager.provenance",
    env: "ALERTMANAGER_PROVENANCE",
    about:
      "A YAML file with rows that come before the built-in table of label provenance, which says what the labels of an alert name. See docs/gateway.md.",
  }),
};
