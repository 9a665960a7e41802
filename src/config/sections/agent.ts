import { count, duration, namespace } from "../kinds.ts";
import { setting } from "../setting.ts";

export const agent = {
  namespace: setting({
    kind: namespace(),
    default: "kubernaut-system",
    about: "The namespace of coding tasks. The same for gateways and agents.",
  }),
  concurrency: setting({
    kind: count(),
    default: "4",
    env: "AGENT_CONCURRENCY",
    about: "How many tasks one process works on at a time.",
  }),
  maxAttempts: setting({
    kind: count({ atMost: 20 }),
    default: "3",
    env: "AGENT_MAX_ATTEMPTS",
    about: "How often a task is tried before it has failed.",
  }),
  backoffBaseMs: setting({
    kind: duration({ atLeast: "10ms" }),
    default: "30s",
    path: "agent.backoff.base",
    about: "The wait before the second try. It doubles with each further one.",
  }),
  backoffMaxMs: setting({
    kind: duration({ atLeast: "10ms" }),
    default: "10m",
    path: "agent.backoff.max",
    about: "The longest wait between two tries.",
  }),
};
