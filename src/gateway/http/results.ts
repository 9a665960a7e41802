import type { FastifyReply } from "fastify";
import type { FieldTrace, RemediationRequest, RemediationRequestSpec } from "../../resources/index.ts";
import { type Admission, admissionKinds, type Preview } from "../admission.ts";
import { isLimit } from "../gateway-error.ts";
import { isOutage } from "./problems.ts";

export const resultStatuses = [...admissionKinds, "limited", "retry"] as const;

/** The result of one signal, in the response to its request. */
export interface SignalResult {
  readonly status: (typeof resultStatuses)[number];
  /** Of `limited`: the limit that is reached. */
  readonly limit?: "sender" | "total";
  readonly message: string;
  readonly incident?: string;
  readonly namespace?: string;
  readonly fingerprint?: string;
  readonly fix?: string;
  readonly problems?: readonly string[];
  /** Of a dry run: the object that the signal names, its owner, and the incident it belongs to or would open. */
  readonly subject?: string;
  readonly target?: string;
  readonly spec?: RemediationRequestSpec;
  /** Of a dry run: the derivation of each field from the payload. */
  readonly mapping?: readonly FieldTrace[];
}

export function toResult(admission: Admission): SignalResult {
  if (admission.kind === "invalid") return toInvalidResult(admission.problems);
  const { kind: status, fingerprint } = admission;
  switch (admission.kind) {
    case "counted":
      return countedResult(admission);
    case "created":
      return { status, message: "Incident opened.", ...incidentRef(admission), fingerprint };
    case "resolved":
      return { status, message: "Incident resolved by its senders.", ...incidentRef(admission), fingerprint };
    case "still-firing": {
      const message = `Series resolved; ${admission.others} more of this incident still fire.`;
      return { status, message, ...incidentRef(admission), fingerprint };
    }
    case "refused":
    case "forbidden":
      return { status, message: `No incident opened: ${admission.because}.`, fix: admission.fix, fingerprint };
    case "ignored":
      return { ...toIgnoredResult(admission.because), fingerprint };
  }
}

/** Nearly every result is of this kind, and the same for each repeat of an alert: it is made once per incident. */
function countedResult(admission: Extract<Admission, { kind: "counted" }>): SignalResult {
  const { kind: status, fingerprint, incident } = admission;
  const cached = countedResults.get(incident);
  if (cached?.fingerprint === fingerprint) return cached;
  const result = { status, message: "Counted on an open incident.", ...incidentRef(admission), fingerprint };
  countedResults.set(incident, result);
  countedTexts.set(result, JSON.stringify(result));
  return result;
}

const countedResults = new WeakMap<RemediationRequest, SignalResult>();
const countedTexts = new WeakMap<SignalResult, string>();

/** Sends the results of a request. Those of repeated signals are not serialized again. */
export function sendResults(reply: FastifyReply, results: readonly SignalResult[], truncatedAlerts: number) {
  const texts = results.map((result) => countedTexts.get(result) ?? JSON.stringify(result));
  const more = truncatedAlerts > 0 ? `,"truncatedAlerts":${truncatedAlerts}` : "";
  return reply.type("application/json; charset=utf-8").send(`{"results":[${texts.join(",")}]${more}}`);
}

export function toDryRunResult(preview: Preview): SignalResult {
  if (preview.kind === "invalid") return toInvalidResult(preview.problems);
  const { kind: status, ...rest } = preview;
  return { status, ...rest };
}

/** For a signal whose admission failed. Throws an error that is no outage. */
export function toFailureResult(error: unknown): SignalResult {
  if (isLimit(error)) {
    const limit = error.code === "sender-limit" ? "sender" : "total";
    return { status: "limited", limit, message: `No incident opened: ${error.message}. Send it again later.` };
  }
  if (isOutage(error)) return retry;
  throw error;
}

/** For a signal that may not be durable. */
const retry: SignalResult = {
  status: "retry",
  message: "Not stored yet. Send it again; repeats are harmless.",
};

export function toIgnoredResult(because: string): SignalResult {
  return { status: "ignored", message: `Ignored: ${because}.` };
}

export function toInvalidResult(problems: readonly string[]): SignalResult {
  return { status: "invalid", message: "The signal is invalid.", problems };
}

const codes: Readonly<Record<SignalResult["status"], number>> = {
  created: 201,
  counted: 202,
  resolved: 202,
  "still-firing": 202,
  refused: 200,
  forbidden: 200,
  ignored: 200,
  invalid: 422,
  limited: 503,
  retry: 503,
};

/**
 * The status code of a request with several signals. If one signal has to be sent again, the sender sends all of them again,
 * which is harmless. Otherwise the best result counts, because a sender that receives 4xx drops the whole batch.
 */
export function statusCode(results: readonly SignalResult[], { retries429 }: { readonly retries429: boolean }): number {
  if (results.some(({ status, limit }) => status === "retry" || limit === "total")) return 503;
  if (results.some(({ limit }) => limit === "sender")) return retries429 ? 429 : 503;
  for (const code of [201, 202, 200]) if (results.some(({ status }) => codes[status] === code)) return code;
  return results.length === 0 ? 200 : 422;
}

function incidentRef({ incident: { metadata } }: { readonly incident: RemediationRequest }) {
  return { incident: metadata.name ?? "", namespace: metadata.namespace ?? "" };
}
