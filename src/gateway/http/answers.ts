import type { FieldTrace, RemediationRequestSpec } from "../../resources/index.ts";
import type { Admission, Preview } from "../admission.ts";
import type { GatewayError } from "../gateway-error.ts";

/** What a sender is told about one signal. */
export interface SignalAnswer {
  readonly status: Admission["kind"] | "limited" | "retry";
  /** Of `limited`: which limit there is no room under. */
  readonly limit?: "sender" | "total";
  readonly message: string;
  readonly incident?: string;
  readonly namespace?: string;
  readonly fingerprint?: string;
  readonly fix?: string;
  readonly problems?: readonly string[];
  /** Of a dry run: what the signal names, what owns that, and the incident that it is or would be. */
  readonly subject?: string;
  readonly target?: string;
  readonly spec?: RemediationRequestSpec;
  /** Of a dry run: the derivation of each field from the payload. */
  readonly mapping?: readonly FieldTrace[];
}

export function answerTo(admission: Admission): SignalAnswer {
  const { kind: status } = admission;
  if (admission.kind === "invalid") return { status, message: "It was not understood.", problems: admission.problems };
  const { fingerprint } = admission;
  if (admission.kind === "counted") {
    // Nearly every answer is this one.
    const { name = "", namespace = "" } = admission.incident.metadata;
    return { status, message: "It was counted on an open incident.", incident: name, namespace, fingerprint };
  }
  const place = "incident" in admission ? placeOf(admission.incident.metadata) : {};
  switch (admission.kind) {
    case "created":
      return { status, message: "A new incident was opened.", ...place, fingerprint };
    case "resolved":
      return { status, message: "The incident is over, according to its senders.", ...place, fingerprint };
    case "still-firing":
      return {
        status,
        message: `It is over; ${admission.others} more of this incident still fire.`,
        ...place,
        fingerprint,
      };
    case "refused":
      return { status, message: `Nothing was opened: ${admission.because}.`, fix: admission.fix, fingerprint };
    case "forbidden":
      return { status, message: `Nothing was opened: ${admission.because}.`, fix: admission.fix, fingerprint };
    case "ignored":
      return { status, message: `There is nothing to do: ${admission.because}.`, fingerprint };
  }
}

/** For a signal that is only asked about. */
export function answerToDryRun(preview: Preview): SignalAnswer {
  if (preview.kind === "invalid") return unreadable(preview.problems);
  const { kind: status, ...found } = preview;
  return { status, ...found };
}

/** For a signal that is not yet durable. */
export const retry: SignalAnswer = {
  status: "retry",
  message: "It is not certain that this was kept. Send it again; that is harmless.",
};

/** For a signal that would open one incident too many. */
export function limited({ code, message }: GatewayError): SignalAnswer {
  const limit = code === "sender-limit" ? "sender" : "total";
  return { status: "limited", limit, message: `Nothing was opened: ${message}. Send it again later.` };
}

/** For a part of a payload that is not a signal. */
export function notASignal(because: string): SignalAnswer {
  return { status: "ignored", message: `There is nothing to do: ${because}.` };
}

export function unreadable(problems: readonly string[]): SignalAnswer {
  return { status: "invalid", message: "It was not understood.", problems };
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
 * The status code for all signals of a request. One that has to come again makes the sender send all of them again,
 * which is harmless; else the best that happened counts, because a sender that hears 4xx gives up on all of them.
 */
export function statusCodeOf(
  answers: readonly SignalAnswer[],
  { retries429 }: { readonly retries429: boolean },
): number {
  if (answers.some(({ status, limit }) => status === "retry" || limit === "total")) return 503;
  if (answers.some(({ limit }) => limit === "sender")) return retries429 ? 429 : 503;
  for (const code of [201, 202, 200]) if (answers.some(({ status }) => codes[status] === code)) return code;
  return answers.length === 0 ? 200 : 422;
}

function placeOf({ name = "", namespace = "" }: { readonly name?: string; readonly namespace?: string }) {
  return { incident: name, namespace };
}
