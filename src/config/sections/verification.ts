import { duration } from "../kinds.ts";
import { setting } from "../setting.ts";

export const verification = {
  graceMs: setting({
    kind: duration(),
    default: "2m",
    about: "Signals that come so soon after a run do not mean that it did not help.",
  }),
  windowMs: setting({
    kind: duration(),
    default: "15m",
    about: "How long after a run an incident is watched before it is closed.",
  }),
};
