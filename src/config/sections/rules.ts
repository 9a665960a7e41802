import { directory } from "../kinds.ts";
import { setting } from "../setting.ts";

export const rules = {
  dir: setting({
    kind: directory(),
    default: "rules",
    env: "RULES_DIR",
    about:
      "The folder with the rules, in YAML files that are read in the order of their names, and again when they change.",
  }),
};
