import { count, directory, duration } from "../kinds.ts";
import { setting } from "../setting.ts";

export const rules = {
  dir: setting({
    kind: directory(),
    default: "rules",
    env: "RULES_DIR",
    about:
      "The folder with the rules, in YAML files that are read in the order of their names, and again when they change.",
  }),
  factsTimeoutMs: setting({
    kind: duration({ atLeast: "10ms" }),
    default: "2s",
    about: "How long one object may take to be read, when a rule asks about labels, conditions or the like of objects.",
  }),
  factsPerMinute: setting({
    kind: count(),
    default: "600",
    about: "How many objects may be read in a minute for that. Incidents beyond it wait, and are diagnosed later.",
  }),
};
