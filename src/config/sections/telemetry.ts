import { address, duration, oneOf } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const heartbeat = {
  intervalMs: setting(duration({ min: "100ms" }), {
    default: "15s",
    about:
      "How often each process writes its health to a Lease in `locks.namespace`, for `interlock status`. After three intervals without one it counts as down.",
  }),
};

export const log = {
  level: setting(oneOf("debug", "info", "warn", "error"), {
    default: "info",
    env: "LOG_LEVEL",
    about: "The lowest level of events that are logged. `interlock up` logs from `warn` on unless this is set.",
  }),
  format: setting(oneOf("json", "text"), {
    default: "json",
    about:
      "`json` for machines, one object per line; `text` for a terminal, as `interlock up` does unless this is set.",
  }),
};

export const metrics = {
  listen: optional(address(), {
    env: "METRICS_LISTEN",
    about:
      "Where a process without HTTP of its own, such as `interlock executor`, serves /metrics, /healthz and /readyz; not served unless set. The gateway serves them at its own address.",
  }),
};
