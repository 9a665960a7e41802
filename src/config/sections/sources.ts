import { words, yesOrNo } from "../kinds.ts";
import { setting } from "../setting.ts";

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
};
