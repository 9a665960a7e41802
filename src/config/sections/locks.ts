import { backend, duration, namespace } from "../kinds.ts";
import { setting } from "../setting.ts";

export const locks = {
  backend: setting({
    kind: backend(),
    sameAs: "state.backend",
    env: "LOCKS_BACKEND",
    about: "Where locks live, if not with the rest of the state.",
  }),
  ttlMs: setting({
    kind: duration({
      atLeast: "500ms",
      usual: {
        from: "10s",
        to: "60s",
        because: "shorter loses locks to short pauses, longer keeps a crashed holder's targets blocked",
      },
    }),
    default: "30s",
    about: "How long a lock outlives a holder that vanished; a live holder renews it.",
  }),
  waitMs: setting({
    kind: duration(),
    default: "30s",
    about: "The longest wait for a lock, unless the caller sets another.",
  }),
  namespace: setting({
    kind: namespace(),
    default: "kubernaut-system",
    about: "The namespace of the Lease objects when locks live in Kubernetes.",
  }),
};
