import { count, duration } from "../kinds.ts";
import { setting } from "../setting.ts";

export const ineffective = {
  times: setting({
    isPolicy: true,
    kind: count({ atMost: 20 }),
    default: "3",
    about: "A fix that succeeded so often, while the incident kept coming back, is blocked until a person has looked.",
  }),
  withinMs: setting({
    isPolicy: true,
    kind: duration({ atLeast: "1s" }),
    default: "4h",
    about: "The time within which that counts.",
  }),
};
