import { setMaxListeners } from "node:events";
import type { Locks } from "../coordination/index.ts";
import {
  byAge,
  type ChangeEvent,
  Controller,
  informer,
  type KeySource,
  type KubeClient,
  type KubeObject,
  keysFrom,
  nameHash,
  OwnWrites,
  objectKey,
  type Problem,
  refOfKey,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  automationPauses,
  catalogOf,
  type KindsCache,
  labelKeys,
  type RemediationApprovalRequest,
  type RemediationRequest,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Analyzer } from "./analyzer.ts";
import { announcer } from "./announce.ts";
import { toCachedIncident } from "./cached-incident.ts";
import { isWaiting, needsAnalysis } from "./decide.ts";
import { orchestratorMetrics } from "./metrics.ts";
import { NewestIncidents } from "./newest-incidents.ts";
import type { AnswerersKnownSince, Caches } from "./observe.ts";
import { OutdatedDiagnoses } from "./outdated-diagnoses.ts";
import { reconcile } from "./reconcile.ts";
import { type PauseRecorder, recordPause } from "./record-pause.ts";
import { reconcileRequestedApproval } from "./requested-approvals.ts";
import { hasTurn } from "./route.ts";
import type { OrchestratorSettings } from "./settings.ts";
import { reconcileTarget } from "./targets.ts";

export interface OrchestratorOptions {
  readonly client: KubeClient;
  readonly analyzer: Analyzer;
  readonly locks: Locks;
  readonly ledger: Ledger;
  readonly kinds: KindsCache;
  /** Where target records live. */
  readonly namespace: string;
  /** Where the catalog is. */
  readonly catalogNamespace: string;
  readonly settings: OrchestratorSettings;
  /** Since when nobody can answer an approval in another's name. Without it no name counts as verified. */
  readonly answerersKnownSince?: AnswerersKnownSince;
  /** The same for cancelling an incident. */
  readonly cancellersKnownSince?: AnswerersKnownSince;
  /** The same for ending a pause. */
  readonly resumersKnownSince?: AnswerersKnownSince;
  /** The only user whom the API server lets write, if there is one. */
  readonly onlyUser?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Incidents worked on at a time, and targets. */
  readonly concurrency?: number;
}

export interface Orchestrator {
  /** Resolves when it knows everything and has begun to work. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  /** Why incidents that are stalled cannot be reported as such; undefined while they can. */
  readonly problem: string | undefined;
  /** Begins nothing new, waits for what is under way, and stops following. */
  stop(options: { readonly deadlineMs: number }): Promise<void>;
}

/** Drives incidents, from now on until `stop`. Any number of replicas may do so. It never executes anything. */
export function startOrchestrator(options: OrchestratorOptions): Orchestrator {
  const { client, clock, random, log, ledger, locks, namespace, analyzer, kinds, concurrency = 16 } = options;
  const stop = new AbortController();
  // Every informer listens: more than Node takes for a leak.
  setMaxListeners(0, stop.signal);
  const problem = (problem: Problem) => log.warn("orchestrator problem", problem);
  const follow = { client, clock, random, problem, signal: stop.signal };
  const ownWrites = new OwnWrites();
  const outdated = new OutdatedDiagnoses();

  const incidents = informer<RemediationRequest, "target" | "fingerprint" | "rule" | "cause">({
    ...follow,
    type: remediationRequests,
    transform: toCachedIncident,
    indexes: {
      target: turnOf,
      fingerprint: ({ spec }) => [spec.signalFingerprint],
      rule: ruleOf,
      cause: ({ status }) => status?.diagnosis?.deferWhile?.rules ?? [],
    },
  });
  const executions = informer<WorkflowExecution, "target" | "incident">({
    ...follow,
    type: workflowExecutions,
    indexes: { target: ({ metadata }) => targetKey(metadata.labels), incident: ownerUid },
  });
  const approvals = informer<RemediationApprovalRequest, "incident">({
    ...follow,
    type: remediationApprovalRequests,
    indexes: { incident: ownerUid },
  });
  const records = informer({ ...follow, type: remediationTargets, query: { namespace } });
  const pauses = informer({ ...follow, type: automationPauses });
  const entries = informer({
    ...follow,
    type: remediationWorkflows,
    // Entries elsewhere are not the catalog's: anybody who may write in some namespace could add one.
    query: { namespace: options.catalogNamespace },
    indexes: { workflowId: ({ spec }) => [spec.workflowId] },
  });
  const newest = new NewestIncidents(incidents);
  incidents.subscribe((event: ChangeEvent, object) => {
    if (event !== "DELETED") return;
    ownWrites.forget(object);
    outdated.forget(objectKey(object));
  });

  const caches: Caches = {
    ...options,
    incidents,
    executions,
    approvals,
    records,
    pauses,
    newest,
    ownWrites,
    outdated,
    catalog: catalogOf(entries, kinds),
  };
  const announce = announcer({ log, metrics: orchestratorMetrics(options.metrics, incidents) });
  const deps = { caches, ledger, announce, locks };
  /** Those whose turn may come out otherwise when something that concerns many targets changes. */
  const allTargets = () => [...new Set(incidents.list().flatMap(turnOf))];
  /** Those that may be diagnosed otherwise now. */
  const toDiagnose = () => {
    const waiting = incidents.list().filter(isWaiting).map(objectKey);
    outdated.add(waiting);
    return [...waiting, ...incidents.list().filter(needsAnalysis).map(objectKey)];
  };
  const stalls = stallReporter({ ...options, stage: "orchestrator", metricPrefix: "ro" });
  const drive = new Controller({
    name: "incidents",
    clock,
    random,
    problem,
    concurrency,
    sources: [
      keysFrom(incidents, (incident) => [objectKey(incident)]),
      newest.superseded,
      keysFrom(executions, ownerKey),
      keysFrom(approvals, ownerKey),
      keysFrom(entries, toDiagnose),
      changesOf(analyzer, incidents.synced, toDiagnose),
      changesOf(kinds, kinds.synced, toDiagnose),
    ],
    reconcile: (key, signal) => reconcile(refOfKey(key), deps, signal),
    stalls: stalls.watch({
      type: remediationRequests,
      noun: "incident",
      initialStatus: { phase: "Pending" },
      find: (key) => incidents.get(refOfKey(key)),
    }),
  });
  const takeTurns = new Controller({
    name: "targets",
    clock,
    random,
    problem,
    concurrency,
    sources: [
      keysFrom(incidents, turnOf),
      // Incidents of a symptom wait for those of their cause.
      keysFrom(incidents, (incident) =>
        ruleOf(incident).flatMap((rule) => incidents.byIndex("cause", rule).flatMap(turnOf)),
      ),
      keysFrom(executions, ({ metadata }) => targetKey(metadata.labels)),
      keysFrom(records, ({ metadata }) => [metadata.name ?? ""]),
      keysFrom(pauses, allTargets),
      keysFrom(entries, allTargets),
      keysFrom(approvals, () => []),
      changesOf(kinds, kinds.synced, allTargets),
    ],
    reconcile: (key, signal) => reconcileTarget(key, deps, signal),
    stalls: stalls.watch({
      type: remediationRequests,
      noun: "incident",
      // The others on the target wait for the oldest.
      find: (hash) => [...incidents.byIndex("target", hash)].sort(byAge)[0],
    }),
  });

  const recorder: PauseRecorder = {
    client,
    ledger,
    guarantees: async (signal) => ({
      resumers: await options.resumersKnownSince?.(signal),
      requesters: options.onlyUser === undefined ? undefined : { onlyUser: options.onlyUser },
    }),
  };
  const recordPauses = new Controller({
    name: "pauses",
    clock,
    random,
    problem,
    sources: [keysFrom(pauses, (pause) => [objectKey(pause)])],
    async reconcile(key, signal) {
      const pause = pauses.get(refOfKey(key));
      if (pause) await recordPause(pause, recorder, signal);
      return undefined;
    },
  });
  const requestedApprovals = new Controller({
    name: "approvals",
    clock,
    random,
    problem,
    sources: [keysFrom(approvals, (approval) => [objectKey(approval)])],
    async reconcile(key, signal) {
      const approval = approvals.get(refOfKey(key));
      return approval && reconcileRequestedApproval(approval, options, signal);
    },
  });
  const controllers = [drive, takeTurns, recordPauses, requestedApprovals];

  return {
    ready: Promise.all(controllers.map(({ ready }) => ready)).then(() => {}),
    get isReady() {
      return controllers.every(({ isReady }) => isReady);
    },
    get problem() {
      return stalls.problem;
    },
    async stop({ deadlineMs }) {
      await Promise.all(controllers.map((controller) => controller.stop({ deadlineMs })));
      await stalls.stop();
      stop.abort();
    },
  };
}

/**
 * When decisions may come out otherwise: rules or kinds changed, or may have changed while this process did not run. Work
 * does not begin before they are `synced`.
 */
function changesOf(
  source: Pick<Analyzer, "subscribe">,
  synced: Promise<void>,
  keys: () => readonly string[],
): KeySource {
  return {
    hasSynced: true,
    synced,
    feed: (add) => {
      synced.then(
        () => keys().forEach(add),
        () => {},
      );
      return source.subscribe(() => keys().forEach(add));
    },
  };
}

/** The rule by which an incident was diagnosed. */
function ruleOf({ status }: RemediationRequest): readonly string[] {
  return status?.diagnosis?.rule === undefined ? [] : [status.diagnosis.rule];
}

/** The hash of the target in whose turn an incident is dealt with. */
function turnOf(incident: RemediationRequest): readonly string[] {
  return hasTurn(incident) && incident.status?.diagnosis ? [nameHash(incident.status.diagnosis.target)] : [];
}

function targetKey(labels: Readonly<Record<string, string>> = {}): readonly string[] {
  const hash = labels[labelKeys.targetHash];
  return hash === undefined ? [] : [hash];
}

function ownerUid({ metadata }: KubeObject): readonly string[] {
  return (metadata.ownerReferences ?? []).flatMap(({ controller, uid }) => (controller && uid ? [uid] : []));
}

function ownerKey({ metadata }: KubeObject): readonly string[] {
  const owners = metadata.ownerReferences ?? [];
  const { kind } = remediationRequests;
  return owners.flatMap((owner) =>
    owner.controller && owner.kind === kind ? [`${metadata.namespace}/${owner.name}`] : [],
  );
}
