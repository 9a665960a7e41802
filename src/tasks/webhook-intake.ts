import { type Claim, type Claims, isCoordinationError, keyOf } from "../coordination/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import { type TaskDraft, taskName } from "./draft-task.ts";
import { type IgnoreReason, ignoreReasons, reportedObjects, type TaskReport } from "./report.ts";
import { ignoredOutcome } from "./report-outcome.ts";
import type { TaskIntake } from "./task-intake.ts";

export interface WebhookIntakeOptions {
  readonly intake: TaskIntake;
  readonly claims: Claims;
  /** How long a delivery is remembered after its task exists. */
  readonly rememberMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The result of a webhook. */
export type TaskAdmission =
  | { readonly kind: "queued"; readonly task: string }
  /** `of`: the delivery was received before, or the task was reported in another way. */
  | { readonly kind: "duplicate"; readonly of: "delivery" | "task"; readonly task: string }
  | { readonly kind: "ignored"; readonly reason: IgnoreReason; readonly because: string };

export interface WebhookIntake {
  readonly namespace: string;
  /** The API server's clock. */
  now(): string;
  /**
   * Resolves when the admission is durable; rejects for an error that a retry may fix, and a retry is harmless.
   * `delivery`: the sender's id of this request, the same when the sender repeats it.
   */
  admit(report: TaskReport, delivery: string | undefined): Promise<TaskAdmission>;
}

/** Creates one task for each reported item, however often and to however many gateways it is reported. */
export function webhookIntake(options: WebhookIntakeOptions): WebhookIntake {
  const { intake, log } = options;
  const metrics = webhookMetrics(options.metrics);
  return {
    namespace: intake.namespace,
    now: intake.now,
    async admit(report, delivery) {
      const { object, subject, outcome } = report;
      metrics.received.with({ object_kind: object }).inc();
      try {
        const admission = outcome.kind === "ignored" ? outcome : await claimAndCreate(outcome.draft, delivery, options);
        // In the ledger before the sender gets its answer, so that `why` can explain it.
        if (admission.kind === "ignored" && subject) {
          await intake.recordIgnored({ ...admission, subject, source: "webhook" });
        }
        countAdmission(admission, object, metrics, log);
        return admission;
      } catch (error) {
        log.warn("webhook intake failed", { object, error });
        throw error;
      }
    },
  };
}

async function claimAndCreate(
  draft: TaskDraft,
  delivery: string | undefined,
  options: WebhookIntakeOptions,
): Promise<TaskAdmission> {
  if (delivery === undefined) return create(draft, options);
  const task = taskName(draft.claimKey);
  // GitLab gives events that follow from one another the same id: with the id alone, one of two would be lost.
  const key = keyOf("hook", delivery, task);
  const claim = await options.claims
    .claim(key, { doneTtlMs: options.rememberMs, effect: "idempotent" })
    .catch((error: unknown) => {
      if (!isCoordinationError(error, "unavailable")) throw error;
      // GitLab does not send a rejected webhook again.
      options.log.warn("delivery not claimed", { task, error });
      return undefined;
    });
  if (claim?.state === "done") return { kind: "duplicate", of: "delivery", task };
  // The process that has the claim may be dead. Creating the task again is harmless: its name decides.
  if (claim?.state !== "new") return create(draft, options);
  return createUnderClaim(claim, draft, options);
}

async function createUnderClaim(
  claim: Extract<Claim, { state: "new" }>,
  draft: TaskDraft,
  options: WebhookIntakeOptions,
): Promise<TaskAdmission> {
  try {
    const admission = await create(draft, options);
    // A refused draft has no task that a repeated delivery could duplicate.
    if (admission.kind === "ignored") {
      await claim[Symbol.asyncDispose]();
      return admission;
    }
    // The sender need not wait for this: a repeated delivery finds the task, with or without the claim.
    void claim
      .complete(admission.kind)
      .catch((error: unknown) => options.log.warn("claim completion failed", { error }));
    return admission;
  } catch (error) {
    await claim[Symbol.asyncDispose]();
    throw error;
  }
}

async function create(draft: TaskDraft, { intake, log }: WebhookIntakeOptions): Promise<TaskAdmission> {
  const creation = await intake.create(draft);
  if (creation.kind === "refused") {
    log.error("task refused", { claimKey: draft.claimKey, problem: creation.problem });
    return ignoredOutcome("Unreadable", `it cannot become a task: ${creation.problem}`);
  }
  const task = creation.task.metadata.name ?? "";
  return creation.kind === "created" ? { kind: "queued", task } : { kind: "duplicate", of: "task", task };
}

function countAdmission(
  admission: TaskAdmission,
  object: TaskReport["object"],
  metrics: WebhookMetrics,
  log: Logger,
): void {
  switch (admission.kind) {
    case "queued":
      return;
    case "duplicate":
      metrics.duplicates.with({ kind: admission.of }).inc();
      return log.debug("webhook duplicate", { task: admission.task, of: admission.of });
    case "ignored":
      metrics.ignored.with({ reason: admission.reason }).inc();
      return log.debug("webhook ignored", { object, reason: admission.reason, because: admission.because });
  }
}

type WebhookMetrics = ReturnType<typeof webhookMetrics>;

function webhookMetrics(metrics: Metrics) {
  return {
    received: metrics.counter(
      "gateway_webhook_received_total",
      "Authenticated webhooks, by the object they report on.",
      { object_kind: reportedObjects },
    ),
    ignored: metrics.counter("gateway_webhook_ignored_total", "Webhooks without a task, by reason.", {
      reason: ignoreReasons,
    }),
    duplicates: metrics.counter(
      "gateway_dedup_hits_total",
      "Repeated webhooks, and webhooks whose task existed already.",
      { kind: ["delivery", "task"] },
    ),
  };
}
