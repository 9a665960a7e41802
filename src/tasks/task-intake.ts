import { type Call, type KubeClient, KubeError } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { type CodingTask, codingTasks } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { draftTask, type TaskDraft, taskName } from "./draft-task.ts";
import { type IgnoredReport, reportIgnoredEvent, taskReceivedEvent } from "./ledger-events.ts";
import { subjectName } from "./report.ts";
import { claimKeys } from "./report-outcome.ts";

/** The one way a draft becomes a task, whether a webhook, a poll or a command brought it. */
export interface TaskIntake {
  readonly namespace: string;
  /** The API server's clock. */
  now(): string;
  /** Resolves when the task exists and is in the ledger. Rejects for an error that a retry may fix; a retry is harmless. */
  create(draft: TaskDraft, call?: Call): Promise<TaskCreation>;
  /** Resolves when the ledger has the report. A poll finds the same item each time: that is recorded once. */
  recordIgnored(report: IgnoredReport): Promise<void>;
}

export type TaskCreation =
  | { readonly kind: "created" | "existing"; readonly task: CodingTask }
  /** The draft is no valid task, and a retry does not help. */
  | { readonly kind: "refused"; readonly problem: string };

export interface TaskIntakeOptions {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  /** The namespace of tasks. */
  readonly namespace: string;
  readonly log: Logger;
}

export function taskIntake({ client, ledger, namespace, log }: TaskIntakeOptions): TaskIntake {
  const recordedTasks = new RecentKeys();
  const recordedReports = new RecentKeys();
  const now = () => new Date(client.serverNowMs()).toISOString();
  return {
    namespace,
    now,
    async create(draft, call) {
      const reading = draftTask(draft, namespace);
      if (reading.kind === "problem") return { kind: "refused", problem: `its branch ${reading.problem}` };
      const creation = await createOnce(client, reading.task, call);
      if (creation.kind === "refused") return creation;

      const { kind, task } = creation;
      const { name, uid = "" } = task.metadata;
      // An existing task is recorded as well: its creator may have died before. The ledger keeps one event of an id.
      await recordedTasks.once(uid, () => ledger.append(taskReceivedEvent(task)));
      if (kind === "created") {
        log.info("task received", { task: name, type: draft.type, claimKey: task.spec.claimKey, source: draft.source });
      }
      return creation;
    },
    async recordIgnored(report) {
      const { subject, reason, source } = report;
      const record = () => ledger.append(reportIgnoredEvent(report, now()));
      if (source === "webhook") return record();
      const key = JSON.stringify([subjectName(subject), subject.headSha, subject.noteId, reason]);
      return recordedReports.once(key, record);
    },
  };
}

/** How often a name may be taken and then free again while one task is created. */
const maxVanished = 20;

/**
 * Creates the task unless it exists. A superseded review does not count: if its commit is reported again it is the head
 * again, because the newer commit was removed. The next name follows from the superseded task, so that all replicas use it.
 */
async function createOnce(client: KubeClient, task: CodingTask, call: Call = {}): Promise<TaskCreation> {
  let candidate = task;
  for (let vanished = 0; vanished < maxVanished; ) {
    const created = await create(client, candidate, call);
    if (created.kind !== "exists") return created;
    const { name = "", namespace = "" } = candidate.metadata;
    const existing = await client.get(codingTasks, { name, namespace }, call);
    if (!existing) vanished++;
    else if (existing.status?.phase !== "Superseded") return { kind: "existing", task: existing };
    else candidate = withClaimKey(task, claimKeys.after(task.spec.claimKey, existing.metadata.uid ?? ""));
  }
  throw new KubeError("unavailable", `the task ${candidate.metadata.name} is created and deleted repeatedly`);
}

async function create(
  client: KubeClient,
  task: CodingTask,
  call: Call,
): Promise<TaskCreation | { readonly kind: "exists" }> {
  try {
    const outcome = await client.create(codingTasks, task, call);
    return outcome.kind === "created" ? { kind: "created", task: outcome.object } : { kind: "exists" };
  } catch (error) {
    if (error instanceof KubeError && error.code === "invalid") return { kind: "refused", problem: error.message };
    throw error;
  }
}

function withClaimKey({ metadata, spec, ...rest }: CodingTask, claimKey: string): CodingTask {
  return { ...rest, metadata: { ...metadata, name: taskName(claimKey) }, spec: { ...spec, claimKey } };
}

/** The maximum number of remembered keys. A forgotten one is recorded again, which is harmless. */
const maxKeys = 10_000;

class RecentKeys {
  readonly #keys = new Set<string>();

  /** Runs `record` unless it succeeded for this key before. */
  async once(key: string, record: () => Promise<void>): Promise<void> {
    if (this.#keys.has(key)) return;
    await record();
    if (this.#keys.size >= maxKeys) this.#keys.clear();
    this.#keys.add(key);
  }
}
