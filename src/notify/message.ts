import type { NotificationRequest } from "../resources/index.ts";
import { splitTitle, type Thread } from "./thread.ts";

/** The content of a notice, for all channels. */
export interface Message {
  /** The same for every attempt and every channel. */
  readonly key: string;
  readonly severity: NotificationRequest["spec"]["severity"];
  /** One sentence: the action, or why there is none. */
  readonly title: string;
  /** The facts, one line each. */
  readonly facts: readonly string[];
  /** The next step for an operator. */
  readonly next: string;
  /** The place of the message among those about its incident. */
  readonly thread: Thread;
  /** For programs. */
  readonly notice: { readonly name: string; readonly namespace: string } & NotificationRequest["spec"];
}

export function toMessage({ metadata, spec }: NotificationRequest, thread: Thread): Message {
  const { context = {}, severity, message } = spec;
  const { title, details } = splitTitle(message);
  const facts: readonly [string, string | undefined][] = [
    ["details", details],
    ["target", context.targetResource],
    ["workflow", context.workflowId],
    ["execution", context.execution],
    ["incident", spec.remediationRequestRef?.name],
    ["reason", context.skipReason ?? context.failureReason],
    ["held by", context.conflictingWorkflow],
    ["ran before", context.recentRemediation],
    ["until", context.until],
  ];
  return {
    key: metadata.uid ?? "",
    severity,
    title,
    facts: [
      ...facts.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : [])),
      ...(context.entries ?? []).map(({ name, message }) => `${name}: ${message}`),
    ],
    next: context.nextStep ?? nextStep(spec),
    thread,
    notice: { name: metadata.name ?? "", namespace: metadata.namespace ?? "", ...spec },
  };
}

function nextStep({ eventType, context = {}, remediationRequestRef }: NotificationRequest["spec"]): string {
  const { execution = "EXECUTION", targetResource = "TARGET" } = context;
  switch (eventType) {
    case "ManualReviewRequired":
      return `check its effects (interlock logs ${execution}); if a retry is safe: interlock ack ${execution} --reason "…"`;
    case "WorkflowFailed":
      // Only an incident creates another execution after a failure.
      return remediationRequestRef
        ? `nothing was changed, and it is retried; interlock why ${execution} shows when`
        : `nothing was changed, and it is not retried; fix the cause, then: interlock retry ${execution} --reason "…"`;
    case "WorkflowSkipped":
    case "IncidentBlocked":
      return `nothing to do; interlock why ${targetResource} shows when that changes`;
    case "ApprovalRequired":
      return "interlock get approvals, then interlock approve NAME or interlock reject NAME";
    case "WorkStalled":
      return "fix the cause of the error; the work is retried until then";
    case "ApprovalExpired":
      return "a new signal requests it again; to run it now: interlock run WORKFLOW --target TARGET";
    case "WorkflowCompleted":
    case "IncidentClosed":
      return "nothing to do";
  }
}

/** The message as plain text, one entry per line. */
export function messageLines({ title, facts, next, severity, thread }: Message): readonly string[] {
  return [
    `[${thread.step === "resolve" ? "resolved" : severity}] ${title}`,
    ...facts.map((fact) => `  ${fact}`),
    `  next: ${next}`,
  ];
}
