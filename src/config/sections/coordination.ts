import { backend, count, duration, namespace } from "../kinds.ts";
import { setting } from "../setting.ts";

export const locks = {
  backend: setting(backend(), {
    sameAs: "state.backend",
    env: "LOCKS_BACKEND",
    about: "The backend of locks, if it differs from that of the rest of the state.",
  }),
  ttlMs: setting(
    duration({
      min: "500ms",
      usual: {
        from: "10s",
        to: "60s",
        because: "shorter loses locks to short pauses, longer keeps a crashed holder's targets blocked",
      },
    }),
    { default: "30s", about: "How long a lock outlives a holder that vanished; a live holder renews it." },
  ),
  waitMs: setting(duration(), {
    default: "30s",
    about: "The longest wait for a lock, unless the caller sets another.",
  }),
  namespace: setting(namespace(), {
    default: "kubernaut-system",
    about: "The namespace of the Lease objects when locks are in Kubernetes.",
  }),
};

export const claims = {
  leaseMs: setting(duration({ min: "500ms" }), {
    default: "1m",
    about: "How long claimed work may take without a renewal before another replica may claim it.",
  }),
  doneTtlMs: setting(duration({ min: "1s" }), {
    default: "1h",
    about: "How long finished work is remembered, and so not done again.",
  }),
  reviewDoneTtlMs: setting(duration({ min: "1s" }), {
    default: "24h",
    about:
      "`claims.doneTtl` for coding tasks and webhooks, which sources report again for longer. Closed tasks are kept for this long.",
  }),
  memoryEntries: setting(count(), { default: "10000", about: "How many claims are kept when they are in memory." }),
};

export const watermarks = {
  overlapMs: setting(duration(), {
    default: "1m",
    about: "How far behind the server's clock a watermark stays, so that items which show up late are still seen.",
  }),
  namespace: setting(namespace(), {
    default: "interlock-watermarks",
    env: "WATERMARKS_NAMESPACE",
    about:
      "The namespace of the ConfigMaps that hold watermarks when they are in Kubernetes. Not the namespace of the stages: a process that may write there could change settings and rules.",
  }),
};
