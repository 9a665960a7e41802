import { address, count, duration, file, fingerprintFields, namespace, oneOf, senderTokens } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const gateway = {
  listen: setting(address(), {
    default: "127.0.0.1:8080",
    env: "GATEWAY_LISTEN",
    about: "The address at which the gateway accepts signals.",
  }),
  tokens: optional(senderTokens(), {
    env: "GATEWAY_TOKENS",
    about:
      "The senders that may post signals. Without this and `gateway.tokenFile` a token is made once, in the data directory.",
  }),
  tokenFile: optional(file(), {
    env: "GATEWAY_TOKEN_FILE",
    about: "A file with one sender per line, read again every few seconds so that tokens can be replaced.",
  }),
  tlsCertFile: optional(file(), {
    env: "GATEWAY_TLS_CERT_FILE",
    about:
      "The certificate, with its chain, in PEM: with it and `gateway.tlsKeyFile` the gateway serves TLS instead of plain HTTP. Read again when it changes.",
  }),
  tlsKeyFile: optional(file(), {
    env: "GATEWAY_TLS_KEY_FILE",
    about: "The private key of `gateway.tlsCertFile`, in PEM.",
  }),
  namespace: setting(namespace(), {
    default: "kubernaut-system",
    about: "The namespace of incidents. The same for all gateways.",
  }),
  scope: setting(oneOf("labels", "all"), {
    default: "labels",
    env: "GATEWAY_SCOPE",
    about:
      "The objects for which incidents are opened: `labels` means objects with the label `kubernaut.ai/managed=true`, on themselves or on their namespace. `interlock up` has an API server of its own, without such objects: there it is `all` unless set.",
  }),
  fingerprint: setting(fingerprintFields(), {
    default: "source, name, target",
    about:
      "The fields in which signals of the same incident agree. The same for all gateways; a change makes new incidents.",
  }),
  durability: setting(oneOf("journal", "status"), {
    default: "journal",
    about:
      "Where a count is durable before its sender gets a response: in the data directory, or, for a pod without a volume, in the incident's status.",
  }),
  flushIntervalMs: setting(duration({ min: "10ms" }), {
    default: "1s",
    env: "GATEWAY_FLUSH_INTERVAL",
    about: "How long counts are collected on disk before they are written to the incident's status.",
  }),
  lockWaitMs: setting(duration(), {
    default: "2s",
    about: "The longest wait for the lock of a fingerprint; after it, the gateway continues without the lock.",
  }),
  lookupTimeoutMs: setting(duration({ min: "10ms" }), {
    default: "2s",
    about: "The longest wait for one read of the object that a signal is about.",
  }),
  maxBodyBytes: setting(count({ max: 67_108_864 }), { default: "1048576", about: "The largest request, in bytes." }),
  maxSignalsPerRequest: setting(count(), {
    default: "5000",
    about: "The largest number of signals in one request; more are answered 413.",
  }),
  maxOpenIncidentsPerSender: setting(count(), {
    default: "5000",
    about:
      "How many incidents of one sender may be open. One more is answered 429, or 503 where the sender gives up after 429, until one is closed.",
  }),
  maxOpenIncidents: setting(count(), {
    default: "10000",
    about: "How many incidents may be open in total. One more is answered 503 until one is closed.",
  }),
  signalsPerSecond: setting(count(), {
    default: "10000",
    about: "How many signals one sender may post in the long run; ten times as many at once.",
  }),
};
