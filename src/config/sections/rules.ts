import { declaredKinds } from "../declared-kinds.ts";
import { count, directory, duration } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const rules = {
  dir: setting(directory(), {
    default: "rules",
    env: "RULES_DIR",
    about:
      "The folder with the rules, in YAML files that are read in the order of their names, and again when they change.",
  }),
  factsTimeoutMs: setting(duration({ min: "10ms" }), {
    default: "2s",
    about: "How long the read of one object may take, when a rule refers to labels, conditions or the like of objects.",
  }),
  factsPerMinute: setting(count(), {
    default: "600",
    about: "How many objects may be read in a minute for rules. Incidents beyond it wait, and are diagnosed later.",
  }),
};

export const kinds = {
  declared: optional(declaredKinds(), {
    isPolicy: true,
    about:
      "Kinds of objects that have no CustomResourceDefinition, such as those of aggregated APIs, so that targets, rules and pauses can name them. A kind that is built in is refused; where a CustomResourceDefinition defines the same kind, the definition counts.",
  }),
};
