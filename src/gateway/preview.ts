import { isClosedIncident, type RemediationRequest } from "../resources/index.ts";
import type { Preview } from "./admission.ts";
import { decideFiring } from "./decide.ts";
import type { Report } from "./identity/report.ts";
import type { Scope } from "./identity/scope.ts";
import { draftIncident, payloadProblem } from "./incidents/draft.ts";

/** The facts about a signal, all read without any write. */
export interface PreviewInput {
  readonly report: Report;
  /** The latest incident of its fingerprint. */
  readonly newest: RemediationRequest | undefined;
  readonly scope: Scope;
  /** Where incidents live. */
  readonly namespace: string;
}

/** The effect that a signal would have. */
export function previewSignal(known: PreviewInput): Preview {
  const { report } = known;
  const { fingerprint, subject, owner, signal } = report;
  const identity = { fingerprint, subject, target: owner.target };
  const problem = payloadProblem(signal.payload);
  if (problem) return { kind: "invalid", problems: [problem] };
  return signal.status === "resolved"
    ? { ...identity, ...previewResolving(known) }
    : { ...identity, ...previewFiring(known) };
}

type PreviewResult = Pick<Exclude<Preview, { kind: "invalid" }>, "kind" | "message" | "fix" | "incident" | "spec">;

function previewFiring({ report, newest, scope, namespace }: PreviewInput): PreviewResult {
  const decision = decideFiring(newest, report);
  switch (decision.do) {
    case "ignore":
      return { kind: "ignored", message: `Would be ignored: ${decision.because}.` };
    case "count": {
      const { metadata, spec } = decision.incident;
      return {
        kind: "counted",
        message: "It would be counted on an open incident.",
        incident: metadata.name ?? "",
        spec,
      };
    }
    case "open": {
      if (!scope.in)
        return { kind: "refused", message: `No incident would be opened: ${scope.because}.`, fix: scope.fix };
      const { metadata, spec } = draftIncident(report, decision.n, namespace);
      return { kind: "created", message: "Incident would be opened.", incident: metadata.name ?? "", spec };
    }
  }
}

function previewResolving({ newest }: PreviewInput): PreviewResult {
  if (!newest || isClosedIncident(newest))
    return { kind: "ignored", message: "There is no open incident that it could end." };
  return {
    kind: "resolved",
    message: "Its end would be noted.",
    incident: newest.metadata.name ?? "",
    spec: newest.spec,
  };
}
