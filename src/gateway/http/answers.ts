import type { FastifyReply } from "fastify";
import { CoordinationError } from "../../coordination/index.ts";
import { sendProblem as send } from "../../http/index.ts";
import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import type { FieldTrace, RemediationRequest, RemediationRequestSpec } from "../../resources/index.ts";
import { type Admission, admissionKinds, type Preview } from "../admission.ts";
import { GatewayError, isLimit } from "../gateway-error.ts";

export const answerStatuses = [...admissionKinds, "limited", "retry"] as const;

/** The response to one signal. */
export interface SignalAnswer {
  readonly status: (typeof answerStatuses)[number];
  /** Of `limited`: the limit that is reached. */
  readonly limit?: "sender" | "total";
  readonly message: string;
  readonly incident?: string;
  readonly namespace?: string;
  readonly fingerprint?: string;
  readonly fix?: string;
  readonly problems?: readonly string[];
  /** Of a dry run: the object the signal names, its owner, and the incident it belongs to or would open. */
  readonly subject?: string;
  readonly target?: string;
  readonly spec?: RemediationRequestSpec;
  /** Of a dry run: the derivation of each field from the payload. */
  readonly mapping?: readonly FieldTrace[];
}

export function toAnswer(admission: Admission): SignalAnswer {
  const { kind: status } = admission;
  if (admission.kind === "invalid") return { status, message: "The signal is invalid.", problems: admission.problems };
  const { fingerprint } = admission;
  const place = "incident" in admission ? incidentRef(admission.incident.metadata) : {};
  switch (admission.kind) {
    case "counted":
      return countedAnswer(admission);
    case "created":
      return { status, message: "Incident opened.", ...place, fingerprint };
    case "resolved":
      return { status, message: "Incident resolved by its senders.", ...place, fingerprint };
    case "still-firing":
      return {
        status,
        message: `Series resolved; ${admission.others} more of this incident still fire.`,
        ...place,
        fingerprint,
      };
    case "refused":
    case "forbidden":
      return { status, message: `No incident opened: ${admission.because}.`, fix: admission.fix, fingerprint };
    case "ignored":
      return { status, message: `Ignored: ${admission.because}.`, fingerprint };
  }
}

/** Nearly every answer is of this kind, and the same again for each alert that still fires: it is made once per incident. */
function countedAnswer({ kind: status, fingerprint, incident }: Extract<Admission, { kind: "counted" }>): SignalAnswer {
  const known = countedAnswers.get(incident);
  if (known?.fingerprint === fingerprint) return known;
  const { metadata } = incident;
  const answer = { status, message: "Counted on an open incident.", ...incidentRef(metadata), fingerprint };
  countedAnswers.set(incident, answer);
  countedTexts.set(answer, JSON.stringify(answer));
  return answer;
}

const countedAnswers = new WeakMap<RemediationRequest, SignalAnswer>();
const countedTexts = new WeakMap<SignalAnswer, string>();

/** Sends the answers of a request, those to repeated signals without writing them as JSON again. */
export function sendAnswers(reply: FastifyReply, results: readonly SignalAnswer[], truncatedAlerts: number) {
  const texts = results.map((result) => countedTexts.get(result) ?? JSON.stringify(result));
  const more = truncatedAlerts > 0 ? `,"truncatedAlerts":${truncatedAlerts}` : "";
  return reply.type("application/json; charset=utf-8").send(`{"results":[${texts.join(",")}]${more}}`);
}

export function toDryRunAnswer(preview: Preview): SignalAnswer {
  if (preview.kind === "invalid") return toUnreadableAnswer(preview.problems);
  const { kind: status, ...found } = preview;
  return { status, ...found };
}

/** For a signal that may not be durable. */
const retry: SignalAnswer = {
  status: "retry",
  message: "Not stored yet. Send it again; repeats are harmless.",
};

/** For a signal that was not admitted. Throws an error that is no outage. */
export function toFailureAnswer(error: unknown): SignalAnswer {
  if (isLimit(error)) return toLimitedAnswer(error);
  if (isOutage(error)) return retry;
  throw error;
}

/** For a signal that would exceed the limit of open incidents. */
function toLimitedAnswer({ code, message }: GatewayError): SignalAnswer {
  const limit = code === "sender-limit" ? "sender" : "total";
  return { status: "limited", limit, message: `No incident opened: ${message}. Send it again later.` };
}

/** For a part of a payload that is not a signal. */
export function toInvalidAnswer(because: string): SignalAnswer {
  return { status: "ignored", message: `Ignored: ${because}.` };
}

export function toUnreadableAnswer(problems: readonly string[]): SignalAnswer {
  return { status: "invalid", message: "The signal is invalid.", problems };
}

const codes: Readonly<Record<SignalAnswer["status"], number>> = {
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
export function statusCode(answers: readonly SignalAnswer[], { retries429 }: { readonly retries429: boolean }): number {
  if (answers.some(({ status, limit }) => status === "retry" || limit === "total")) return 503;
  if (answers.some(({ limit }) => limit === "sender")) return retries429 ? 429 : 503;
  for (const code of [201, 202, 200]) if (answers.some(({ status }) => codes[status] === code)) return code;
  return answers.length === 0 ? 200 : 422;
}

function incidentRef({ name = "", namespace = "" }: { readonly name?: string; readonly namespace?: string }) {
  return { incident: name, namespace };
}

/** Sends an error response with every problem. */
export function sendProblem(reply: FastifyReply, status: number, detail: string, problems: readonly string[] = []) {
  return send(reply, status, detail, problems.length > 0 ? { problems: problems.slice(0, maxProblems) } : {});
}

/** Problems in one response. */
const maxProblems = 100;

/** A backend did not answer. Any other error is a defect, and must not be hidden behind a retry. */
export function isOutage(error: unknown): boolean {
  return [GatewayError, KubeError, LedgerError, CoordinationError].some((kind) => error instanceof kind);
}
