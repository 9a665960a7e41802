import { count, duration, durations, yesOrNo } from "../kinds.ts";
import { setting } from "../setting.ts";

export const incidents = {
  staleAfterMs: setting(duration({ min: "1s" }), {
    default: "15m",
    about: "An incident that waits is withdrawn when it was not reported again for this long.",
  }),
  staleAfterBySource: setting(durations(), {
    default: "alertmanager=5h, grafana=5h, datadog=24h, pagerduty=24h, kubernetes-nodes=24h",
    about: "`incidents.staleAfter` for sources that repeat their signals less often, or report the end themselves.",
  }),
  executionTimeoutMs: setting(duration({ min: "1s" }), {
    default: "1h",
    about:
      "How long an execution for an incident may take, from its creation. Then it is cancelled. At least two minutes longer than its workflow's own timeout.",
  }),
  notifyClosed: setting(yesOrNo(), {
    default: "false",
    env: "INCIDENTS_NOTIFY_CLOSED",
    about: "Whether each closed incident produces a notice (`IncidentClosed`), whatever its outcome is.",
  }),
  retentionMs: setting(duration({ min: "1m" }), {
    default: "24h",
    about:
      "How long closed incidents are kept, with their executions. The newest of each fingerprint then becomes a tombstone, without the texts of its signal and its series; what a check still needs is kept longer.",
  }),
};

export const approval = {
  expiresAfterMs: setting(duration({ min: "1s" }), {
    default: "1h",
    about:
      "How long an approval is waited for, unless the workflow sets its own time. An approval without an answer counts as rejected.",
  }),
};

export const verification = {
  graceMs: setting(duration(), {
    default: "2m",
    about: "Signals within this time after a run do not count as a failure of its fix.",
  }),
  windowMs: setting(duration(), {
    default: "15m",
    about: "How long after a run an incident is watched before it is closed.",
  }),
};

export const ineffective = {
  times: setting(count({ max: 20 }), {
    isPolicy: true,
    default: "3",
    about:
      "A workflow that succeeded this often, while the incident kept coming back, is blocked until an operator acknowledges it.",
  }),
  withinMs: setting(duration({ min: "1s" }), {
    isPolicy: true,
    default: "4h",
    about: "The time within which the successes of `ineffective.times` count.",
  }),
};
