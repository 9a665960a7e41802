import {
  type ControllerGroup,
  type KubeClient,
  type KubeObject,
  labelKey,
  nameHash,
  OwnWrites,
  objectKey,
} from "../kube/index.ts";
import type { NameGuarantee } from "../policy/index.ts";
import {
  automationPauses,
  catalogInformerOptions,
  type KindsCache,
  labelKeys,
  type RemediationApprovalRequest,
  type RemediationRequest,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  toCatalog,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import type { Analyzer } from "./incidents/analyzer.ts";
import { toCachedIncident } from "./incidents/cached-incident.ts";
import { NewestIncidents } from "./incidents/newest-incidents.ts";
import { OutdatedDiagnoses } from "./incidents/outdated-diagnoses.ts";
import type { OrchestratorSettings } from "./settings.ts";
import { isRouted } from "./targets/route.ts";

/** The options from which the caches are opened. */
export interface CachesOptions {
  readonly client: KubeClient;
  readonly analyzer: Analyzer;
  readonly kinds: KindsCache;
  /** The namespace of target records. */
  readonly namespace: string;
  /** The namespace of the catalog. */
  readonly catalogNamespace: string;
  readonly settings: OrchestratorSettings;
  /** Since when no user can answer an approval in another user's name; undefined if one can. */
  readonly answerersKnownSince?: AnswerersKnownSince | undefined;
  /** The same for cancelling an incident. */
  readonly cancellersKnownSince?: AnswerersKnownSince | undefined;
}

export type AnswerersKnownSince = (signal: AbortSignal) => Promise<NameGuarantee | undefined>;

/** The informers that the orchestrator reads. They may be a moment old, so every write is conditional. */
export type Caches = ReturnType<typeof openCaches>;

export function openCaches(group: ControllerGroup, options: CachesOptions) {
  const { client, kinds, namespace } = options;
  const incidents = group.informer<RemediationRequest, "target" | "fingerprint" | "rule" | "cause">({
    type: remediationRequests,
    transform: toCachedIncident,
    indexes: {
      // Incidents that are routed with a target, by its hash.
      target: routingKeys,
      fingerprint: ({ spec }) => [spec.signalFingerprint],
      rule: ruleKeys,
      // Incidents that wait while an incident of a rule is open.
      cause: ({ status }) => status?.diagnosis?.deferWhile?.rules ?? [],
    },
  });
  const executions = group.informer<WorkflowExecution, "target" | "incident">({
    type: workflowExecutions,
    indexes: { target: targetHashKey, incident: ownerUid },
  });
  const approvals = group.informer<RemediationApprovalRequest, "incident">({
    type: remediationApprovalRequests,
    indexes: { incident: ownerUid },
  });
  const records = group.informer({ type: remediationTargets, query: { namespace } });
  const pauses = group.informer({ type: automationPauses });
  const entries = group.informer(catalogInformerOptions(options.catalogNamespace));
  const ownWrites = new OwnWrites();
  const outdated = new OutdatedDiagnoses();
  incidents.subscribe((event, object) => event === "DELETED" && outdated.forget(objectKey(object)));
  return {
    ...options,
    client: ownWrites.track(client, [incidents, executions, approvals, records]),
    incidents,
    executions,
    approvals,
    records,
    pauses,
    entries,
    newest: new NewestIncidents(incidents),
    ownWrites,
    outdated,
    catalog: toCatalog(entries, kinds),
  };
}

/** The rule by which an incident was diagnosed. */
export function ruleKeys({ status }: RemediationRequest): readonly string[] {
  return status?.diagnosis?.rule === undefined ? [] : [status.diagnosis.rule];
}

/** Returns the hash of the target with which an incident is routed. */
export function routingKeys(incident: RemediationRequest): readonly string[] {
  return isRouted(incident) && incident.status?.diagnosis ? [nameHash(incident.status.diagnosis.target)] : [];
}

/** The target hash in the labels of an object, as the keys of an index or a queue. */
export const targetHashKey = labelKey(labelKeys.targetHash);

function ownerUid({ metadata }: KubeObject): readonly string[] {
  return (metadata.ownerReferences ?? []).flatMap(({ controller, uid }) => (controller && uid ? [uid] : []));
}
