import { duration } from "../kinds.ts";
import { setting } from "../setting.ts";

export const approval = {
  expiresAfterMs: setting({
    kind: duration({ atLeast: "1s" }),
    default: "1h",
    about: "How long an approval is waited for, unless the workflow sets its own time. No answer is a no.",
  }),
};
