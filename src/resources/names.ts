import { hash } from "node:crypto";
import { nameHash } from "../kube/index.ts";
import type { Target } from "./target/target.ts";

/** Labels that we set and use in selectors. A value has at most 63 characters, so longer values are hashed. */
export const labelKeys = {
  /** On executions and runs: `targetHash` of the target. */
  targetHash: "kubernaut.ai/target-hash",
  /** On incidents: `nameHash` of the fingerprint. */
  fingerprintHash: "kubernaut.ai/fingerprint-hash",
  /** On incidents that may be the newest of their fingerprint: the same value. It is removed when there is a later one. */
  latestOf: "kubernaut.ai/latest-of",
  /** On incidents: `targetHash` of the subject of the first signal, such as a Pod that may be gone by the next one. */
  subjectHash: "kubernaut.ai/subject-hash",
  /** On runs, for display: the execution's name, cut if it is too long. `annotationKeys.executionUid` identifies the owner. */
  workflowExecution: "kubernaut.ai/workflow-execution",
  /** On runs: the namespace of the execution. */
  sourceNamespace: "kubernaut.ai/source-namespace",
  /** On executions and runs: the workflow's id. */
  workflowId: "kubernaut.ai/workflow-id",
  /** On runs: the engine that runs it. Local runs and those of Tekton are of one kind. */
  engine: "kubernaut.ai/engine",
  /** On workloads and namespaces: `true` puts them in scope, `false` out of it. */
  managed: "kubernaut.ai/managed",
} as const;

/** Annotations that we set and read. */
export const annotationKeys = {
  /** On definitions of kinds: the version of their format, 1 if it is missing. */
  format: "kubernaut.ai/format",
  /** On runs: uid of the execution that owns the run. */
  executionUid: "kubernaut.ai/execution-uid",
  /** On runs: the canonical target in plain text, compared on every collision of names. */
  targetResource: "kubernaut.ai/target-resource",
  /** On runs: the fence with which the run was admitted. */
  fence: "kubernaut.ai/fence",
  /** On runs without a field for it: we requested the cancellation. */
  cancelled: "kubernaut.ai/cancelled",
  /** On runs: the reason of the cancellation. */
  cancelReason: "kubernaut.ai/cancel-reason",
  /** On executions: fingerprint of the incident for which they were created. */
  signalFingerprint: "kubernaut.ai/signal-fingerprint",
  /** On executions: when their incident was opened, or reported again after an earlier run. */
  incidentSince: "kubernaut.ai/incident-since",
  /** On target records: uids of the latest successes of workflows that are ineffective, separated by commas. */
  ineffectiveExecutions: "kubernaut.ai/ineffective-executions",
  /** On incidents: the sender that opened it; absent if the gateway's own watch did. */
  sender: "kubernaut.ai/sender",
  /** On executions: name of the RemediationApprovalRequest that approves them, in the namespace of incidents. */
  approval: "kubernaut.ai/approval",
  /** On executions: the caller who requested the run, as claimed by that caller. Absent if an incident requested it. */
  requestedBy: "kubernaut.ai/requested-by",
  /** On executions: the reason of that request. */
  requestReason: "kubernaut.ai/request-reason",
  /** On executions: the name of the execution that they repeat. */
  retryOf: "kubernaut.ai/retry-of",
  /** On incidents: `true` if only the fields for the next incident of the fingerprint were kept. */
  tombstone: "kubernaut.ai/tombstone",
  /** On incidents: the subject of the first signal, in plain text. */
  subject: "kubernaut.ai/subject",
  /** On incidents: the version of the gateway's rules for identity by which their fingerprint was made. */
  identityVersion: "kubernaut.ai/identity-version",
  /** On incidents: the labels that belong to its identity because its rule acts on them, separated by commas. */
  distinctBy: "kubernaut.ai/distinct-by",
  /** On pauses, and approvals without an incident: the changes that are in the ledger. */
  recorded: "kubernaut.ai/recorded",
  /** On local runs: the folder of their workflow. */
  workflowFolder: "kubernaut.ai/workflow-folder",
  /** On local runs: the names of parameters whose values are redacted in output, separated by commas. */
  secretParameters: "kubernaut.ai/secret-parameters",
  /** On target records: uid of the acknowledged execution, which no longer exists. */
  acknowledgedExecution: "kubernaut.ai/acknowledged-execution",
  /** On executions and target records: the reason of an operator who acknowledges the failure. */
  acknowledge: "kubernaut.ai/acknowledge",
  /** On executions and incidents: the reason of a request to cancel them. On coding tasks: the requester and the reason. */
  cancelRequested: "kubernaut.ai/cancel-requested",
  /** On executions and incidents: the claimed identity of that requester. */
  cancelRequestedBy: "kubernaut.ai/cancel-requested-by",
  /** On executions and incidents: `true` if the workflow stays blocked on the target until an operator acknowledges. */
  cancelBlocks: "kubernaut.ai/cancel-blocks",
  /** On executions and target records: the claimed identity of the operator who acknowledges. */
  acknowledgedBy: "kubernaut.ai/acknowledged-by",
} as const;

/** Keeps a pause that is deleted until its end is recorded. */
export const pauseFinalizer = "automationpause.kubernaut.ai/recorded";

/** Keeps an execution until its run is gone. */
export const executionFinalizer = "workflowexecution.kubernaut.ai/workflowexecution-cleanup";

/** The default namespace of runs and target records. */
export const executionNamespace = "kubernaut-workflows";

/** Marks the objects that we created. We change no others. */
export const managedBy = { label: "app.kubernetes.io/managed-by", value: "interlock" } as const;

/** Name of the `n`-th incident of a fingerprint. Creating it is the claim: the API server refuses the second. */
export function incidentName(fingerprint: string, n: number): string {
  if (!Number.isSafeInteger(n) || n < 1) throw new TypeError(`incidents are counted from 1, got ${n}`);
  return `rr-${nameHash(fingerprint)}-${n}`;
}

/** The number of an incident of `fingerprint`, read from its name. Undefined if the name is not one of them. */
export function incidentNumber(fingerprint: string, name: string): number | undefined {
  const prefix = `rr-${nameHash(fingerprint)}-`;
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^[1-9][0-9]{0,14}$/.test(digits) ? Number(digits) : undefined;
}

/** `name` as the value of a label, for display: without invalid characters, and cut to 63. */
export function labelText(name: string): string {
  const allowed = name.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^[^A-Za-z0-9]+/, "");
  return allowed.slice(0, 63).replace(/[^A-Za-z0-9]+$/, "");
}

/** The target in names and labels: 52 base32hex characters. */
export function targetHash({ text }: Target): string {
  return nameHash(text);
}

/**
 * The name of a run on `target`: the same for every engine, replica and workflow, so that the API server refuses the second
 * run. The hash has only 16 hex digits: on a collision, compare the plain target in the run's annotation.
 */
export function runName({ text }: Target): string {
  return `wfe-${hash("sha256", text).slice(0, 16)}`;
}
