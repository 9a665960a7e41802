import { type Claim, type Claims, keyOf } from "../coordination/index.ts";
import { type KubeClient, KubeError } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  type CodingTask,
  createTask,
  draftTask,
  type IgnoreReason,
  ignored,
  reportIgnored,
  type TaskReport,
  taskReceived,
} from "../resources/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import { type TaskMetrics, taskMetrics } from "./task-metrics.ts";

export interface TaskDeskOptions {
  readonly client: KubeClient;
  readonly claims: Claims;
  readonly ledger: Ledger;
  /** Where tasks live. */
  readonly namespace: string;
  /** How long a delivery is remembered after its task was there. */
  readonly rememberMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What became of a report. */
export type TaskAdmission =
  | { readonly kind: "queued"; readonly task: string }
  /** `of`: we had this delivery before, or heard of the same thing another way. */
  | { readonly kind: "duplicate"; readonly of: "delivery" | "task"; readonly task: string }
  | { readonly kind: "ignored"; readonly reason: IgnoreReason; readonly because: string };

export interface TaskDesk {
  readonly namespace: string;
  /** The API server's clock. */
  now(): string;
  /**
   * Resolves when what it says is durable; throws for what may pass, and the same report may then be told again.
   * `delivery`: what the sender calls this request, the same when it sends it again.
   */
  admit(report: TaskReport, delivery: string | undefined): Promise<TaskAdmission>;
}

/** Makes tasks of what is reported, one for each thing, however often and to however many gateways it is reported. */
export function taskDesk(options: TaskDeskOptions): TaskDesk {
  const { client, namespace, log } = options;
  const metrics = taskMetrics(options.metrics);
  return {
    namespace,
    now: () => new Date(client.serverNowMs()).toISOString(),
    async admit(report, delivery) {
      metrics.received(report.object);
      try {
        const admission = await decide(report, delivery, options);
        if (admission.kind === "ignored") await record(admission, report, options);
        tell(admission, report, metrics, log);
        return admission;
      } catch (error) {
        log.warn("task not admitted", { object: report.object, error });
        throw error;
      }
    },
  };
}

async function decide(
  { outcome }: TaskReport,
  delivery: string | undefined,
  options: TaskDeskOptions,
): Promise<TaskAdmission> {
  if (outcome.kind === "ignored") return outcome;
  const reading = draftTask(outcome.draft, options.namespace);
  if (reading.kind === "problem") return ignored("Unreadable", `its branch ${reading.problem}`);
  const name = reading.task.metadata.name ?? "";
  if (delivery === undefined) return keep(reading.task, options);

  // GitLab gives events that follow from one another the same id, so the id alone would make one of two.
  const claim = await options.claims.claim(keyOf("hook", delivery, name), {
    doneTtlMs: options.rememberMs,
    effect: "idempotent",
  });
  if (claim.state === "done") return { kind: "duplicate", of: "delivery", task: name };
  return underClaim(claim, reading.task, options);
}

/** Ignored merge requests and comments are on record before the sender is answered, so that `why` can tell of them. */
async function record(
  { reason, because }: Extract<TaskAdmission, { kind: "ignored" }>,
  { subject }: TaskReport,
  { client, ledger }: TaskDeskOptions,
): Promise<void> {
  if (!subject) return;
  const at = new Date(client.serverNowMs()).toISOString();
  await ledger.append(reportIgnored({ subject, reason, because, source: "webhook", at }));
}

/** A claim that another has keeps nobody: its process may be dead, and the name of the task decides anyway. */
async function underClaim(claim: Claim, task: CodingTask, options: TaskDeskOptions): Promise<TaskAdmission> {
  if (claim.state !== "new") return keep(task, options);
  try {
    const admission = await keep(task, options);
    // Done means: there and on record. The sender need not wait for that: the next delivery finds the task, done or not.
    void claim.complete(admission.kind).catch((error: unknown) => options.log.warn("delivery not noted", { error }));
    return admission;
  } catch (error) {
    await claim[Symbol.asyncDispose]();
    throw error;
  }
}

/** Creates the task and has it recorded; one that is there is recorded again, because its maker may have died between. */
async function keep(task: CodingTask, { client, ledger, log }: TaskDeskOptions): Promise<TaskAdmission> {
  const created = await createTask(client, task).catch((error: unknown) => {
    if (error instanceof KubeError && error.code === "invalid") return error;
    throw error;
  });
  if (created instanceof KubeError) {
    log.error("task refused by the API server", { task: task.metadata.name, error: created });
    return ignored("Unreadable", "it cannot be kept as a task; the gateway's log says why");
  }
  await ledger.append(taskReceived(created.task));
  const { name = "" } = created.task.metadata;
  return created.isNew ? { kind: "queued", task: name } : { kind: "duplicate", of: "task", task: name };
}

function tell(admission: TaskAdmission, { object, outcome }: TaskReport, metrics: TaskMetrics, log: Logger) {
  switch (admission.kind) {
    case "queued":
      return log.info("task received", {
        task: admission.task,
        ...(outcome.kind === "task" ? { type: outcome.draft.type, claimKey: outcome.draft.claimKey } : {}),
      });
    case "duplicate":
      metrics.duplicate(admission.of);
      return log.debug("task known", { task: admission.task, of: admission.of });
    case "ignored":
      metrics.ignored(admission.reason);
      return log.debug("webhook ignored", { object, reason: admission.reason, because: admission.because });
  }
}
