import { address } from "../kinds.ts";
import { optional } from "../setting.ts";

export const metrics = {
  listen: optional<{ readonly host: string; readonly port: number }>({
    kind: address(),
    env: "METRICS_LISTEN",
    about:
      "Where a process without HTTP of its own, such as `interlock executor`, serves /metrics, /healthz and /readyz; nowhere unless set. The gateway serves them where it takes signals.",
  }),
};
