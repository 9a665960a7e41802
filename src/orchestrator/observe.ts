import { objectKey, refOf } from "../kube/index.ts";
import { lastingPauses, openCauses } from "../policy/index.ts";
import {
  isUnfinished,
  type Kinds,
  labelKeys,
  parseRecordedTarget,
  parseTarget,
  type RemediationApprovalRequest,
  type RemediationRequest,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  workflowExecutions,
} from "../resources/index.ts";
import { isWithdrawn } from "./approvals/draft-approval.ts";
import type { Caches } from "./caches.ts";
import { isWaiting, needsAnalysis } from "./decide.ts";
import { openCancelRequest } from "./endings/cancel.ts";
import { analyzeSeries } from "./incidents/analyzer.ts";
import { knownSeriesVersion } from "./incidents/cached-incident.ts";
import { isOwnedBy, type Snapshot } from "./snapshot.ts";
import type { TargetView, ViewedTarget } from "./targets/target-view.ts";

/** Reads everything that the next step of `incident` depends on. Returns undefined if the incident is deleted. */
export async function observe(
  incident: RemediationRequest,
  caches: Caches,
  signal: AbortSignal,
): Promise<Snapshot | undefined> {
  const { client, analyzer, catalog, executions, settings } = caches;
  const nowMs = client.serverNowMs();
  const key = objectKey(incident);
  const outdatedSince = caches.outdated.changeOf(key);
  const { status, metadata } = incident;
  const approval = await readApproval(incident, caches, signal);
  const version = analysisVersion(incident);
  const isOutdated = isWaiting(incident) && caches.outdated.isOutdated(key, version, nowMs);
  const isAnswered = status?.phase === "AwaitingApproval" && approval?.status !== undefined;
  const needed = needsAnalysis(incident) || isOutdated;
  // Caches keep neither labels and annotations nor many series. A change since then arrives as an event.
  const whole = needed ? await client.get(remediationRequests, refOf(incident), { signal }) : undefined;
  if (needed && whole?.metadata.uid !== metadata.uid) return undefined;
  const analysis = whole && (await analyzeSeries(whole, analyzer, signal));
  const diagnosis = analysis && "diagnosis" in analysis ? analysis.diagnosis : status?.diagnosis;
  return {
    nowMs,
    incident,
    analysis,
    analysisVersion: version,
    outdatedSince,
    recheckAtMs: caches.outdated.recheckAtMs(key),
    execution: await readExecution(incident, caches, signal),
    unfinished: executions.byIndex("incident", metadata.uid ?? "").filter(isUnfinished),
    approval,
    ...(openCancelRequest(incident) && { cancellersKnownSinceMs: await caches.cancellersKnownSince?.(signal) }),
    ...(isAnswered && { answerersKnownSinceMs: await caches.answerersKnownSince?.(signal) }),
    workflow: diagnosis && catalog.find(diagnosis.workflowId),
    isNewest: caches.newest.isNewest(incident),
    settings,
  };
}

/**
 * Changes whenever a replica has to repeat its analysis of a waiting incident. Empty for an incident with a diagnosis and a
 * single series: it is analyzed again when the rules change, but not by every replica. An incident without a diagnosis is
 * analyzed by every replica, because the replica that blocked it may have had old rules.
 */
function analysisVersion(incident: RemediationRequest): string {
  if (!isWaiting(incident)) return "";
  const series = knownSeriesVersion(incident);
  return incident.status?.diagnosis ? series : `no rule ${series}`;
}

/** Only the server decides that the execution is deleted: the cache may not show it yet. */
async function readExecution({ status }: RemediationRequest, { client, executions }: Caches, signal: AbortSignal) {
  const ref = status?.phase === "Executing" && !status.follows ? status.executionRefs?.at(-1) : undefined;
  if (!ref) return undefined;
  const { name, namespace, uid } = ref;
  const known = executions.get({ name, namespace });
  if (known?.metadata.uid === uid) return known;
  const found = await client.get(workflowExecutions, { name, namespace }, { signal });
  return found?.metadata.uid === uid ? found : undefined;
}

/** Returns the latest approval that was not withdrawn: earlier ones are answered. */
async function readApproval(
  { metadata, status }: RemediationRequest,
  { client, approvals }: Caches,
  signal: AbortSignal,
) {
  const known = latest(approvals.byIndex("incident", metadata.uid ?? ""));
  if (known || status?.phase !== "AwaitingApproval") return known;
  const { namespace = "" } = metadata;
  const { items } = await client.list(remediationApprovalRequests, { namespace }, { signal });
  return latest(items.filter((item) => isOwnedBy(item, metadata.uid)));
}

function latest(approvals: readonly RemediationApprovalRequest[]): RemediationApprovalRequest | undefined {
  const age = ({ metadata }: RemediationApprovalRequest) => `${metadata.creationTimestamp} ${metadata.name}`;
  return approvals.filter((approval) => !isWithdrawn(approval)).sort((a, b) => (age(a) < age(b) ? 1 : -1))[0];
}

/** Parses a target that incidents were diagnosed to. */
export function parseDiagnosedTarget(text: string, kinds: Kinds): ViewedTarget {
  const reading = parseTarget(text, kinds);
  const recorded = reading.kind === "target" ? reading : parseRecordedTarget(text);
  const isObject = recorded.kind === "target" && recorded.target.type === "object";
  return { reading, namespace: isObject ? recorded.target.namespace : undefined };
}

/** Returns the target as the caches show it: enough to decide that there is nothing to do. */
export function viewCachedTarget(
  hash: string,
  target: ViewedTarget,
  waiting: readonly RemediationRequest[],
  caches: Caches,
): TargetView {
  const approvals = waiting.flatMap(({ metadata }) => caches.approvals.byIndex("incident", metadata.uid ?? ""));
  return {
    ...commonView(target, caches),
    record: caches.records.get({ namespace: caches.namespace, name: hash }),
    executions: caches.executions.byIndex("target", hash),
    approvals: new Map(approvals.map((approval) => [approval.metadata.name ?? "", approval])),
  };
}

/** Reads the target from the server. */
export async function readTargetView(
  hash: string,
  target: ViewedTarget,
  caches: Caches,
  signal: AbortSignal,
): Promise<TargetView> {
  const { client, namespace } = caches;
  const view = commonView(target, caches);
  const selector = { labelSelector: `${labelKeys.targetHash}=${hash}` };
  const { items: executions } = await client.list(workflowExecutions, selector, { signal });
  // Read after the executions: an execution that ends between the reads is in the record, or not yet observed as ended.
  const record = await client.get(remediationTargets, { namespace, name: hash }, { signal });
  return { ...view, record, executions, approvals: new Map() };
}

function commonView(target: ViewedTarget, { client, incidents, pauses, catalog, kinds: cache, settings }: Caches) {
  const nowMs = client.serverNowMs();
  const { current: kinds } = cache;
  return {
    nowMs,
    target,
    pauses: lastingPauses(pauses.list(), nowMs, kinds),
    catalog,
    kinds,
    settings,
    causesOf: (incident: RemediationRequest) => {
      const rules = incident.status?.diagnosis?.deferWhile?.rules ?? [];
      return openCauses(
        incident,
        rules.flatMap((rule) => incidents.byIndex("rule", rule)),
      );
    },
  };
}
