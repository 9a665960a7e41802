import {
  isRecorded,
  type ObjectTarget,
  type RemediationTarget,
  readCancelRequest,
  remediationTargets,
  targetHash,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { isBeforeRun } from "../admission/find-entry.ts";
import type { Caches, ReadOptions } from "../caches.ts";
import { isAcknowledged } from "../endings/endings.ts";
import { retentionEndMs } from "../endings/retention.ts";
import { findHolder } from "../snapshot.ts";

export interface ReadRecord {
  readonly record: RemediationTarget | undefined;
  /** Whether the server has just returned it; otherwise it is from a cache, and may be outdated. */
  readonly isConfirmed: boolean;
}

/**
 * Reads the record of an execution's target. Before the execution has a run, the cached record is enough: the write that admits
 * it is conditional on that version. A decision that ends the execution confirms the record first.
 */
export async function readRecord(
  execution: WorkflowExecution,
  target: ObjectTarget | undefined,
  caches: Caches,
  { signal, fresh }: ReadOptions,
): Promise<ReadRecord> {
  if (!target) return { record: undefined, isConfirmed: true };
  const ref = { namespace: caches.namespace, name: targetHash(target) };
  const shown = caches.records.get(ref);
  if (!concernsRecord(execution, caches) && !mayHold(execution, shown, caches)) {
    return { record: undefined, isConfirmed: true };
  }
  const isOutdated = shown !== undefined && caches.ownWrites.isOutdated(shown);
  if (!fresh && !isOutdated && isEnough(shown, execution)) return { record: shown, isConfirmed: false };
  return { record: await caches.client.get(remediationTargets, ref, { signal }), isConfirmed: true };
}

/**
 * Whether the cached record, or that there is none, is enough. A record that does not show a Running execution as its holder
 * is outdated, or was rebuilt without it.
 */
function isEnough(record: RemediationTarget | undefined, execution: WorkflowExecution): boolean {
  const isEnding = execution.metadata.deletionTimestamp !== undefined || readCancelRequest(execution) !== undefined;
  if (isBeforeRun(execution)) return !isEnding;
  if (execution.status?.phase === "Running") return findHolder(execution, record) !== undefined;
  return record !== undefined;
}

/** Most executions ended long ago: a replica that starts with a hundred thousand of them must not read a record for each. */
function concernsRecord(execution: WorkflowExecution, { client, settings }: Caches): boolean {
  const { metadata } = execution;
  const endMs = retentionEndMs(execution, settings);
  const isExpired = endMs !== undefined && client.serverNowMs() >= endMs;
  return !isRecorded(execution) || metadata.deletionTimestamp !== undefined || isAcknowledged(execution) || isExpired;
}

/** One replica may have admitted the execution while another skipped and recorded it: then it has to free the target. */
function mayHold(execution: WorkflowExecution, shown: RemediationTarget | undefined, { ownWrites }: Caches): boolean {
  return shown !== undefined && (findHolder(execution, shown) !== undefined || ownWrites.isOutdated(shown));
}
