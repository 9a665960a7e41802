import type { Engine } from "../engines/index.ts";
import {
  type ControllerGroup,
  type Informer,
  type KubeClient,
  type KubeObject,
  labelKey,
  OwnWrites,
  type ResourceType,
} from "../kube/index.ts";
import type { NameGuarantee } from "../policy/index.ts";
import {
  type AutomationPause,
  automationPauses,
  catalogInformerOptions,
  type Engine as EngineName,
  type KindsCache,
  labelKeys,
  managedBy,
  type RemediationTarget,
  type RemediationWorkflow,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import type { PlanDefaults } from "./admission/plan.ts";
import type { ExecutorSettings } from "./snapshot.ts";

/** The informers that the executor reads. They may be a moment old, so every write is conditional. */
export interface Caches {
  readonly client: KubeClient;
  readonly kinds: KindsCache;
  readonly executions: Informer<WorkflowExecution, "uid">;
  readonly records: Informer<RemediationTarget>;
  readonly pauses: Informer<AutomationPause>;
  /** The catalog, without entries of other namespaces. */
  readonly entries: Informer<RemediationWorkflow, "workflowId">;
  readonly catalogNamespace: string;
  readonly ownWrites: OwnWrites;
  /** Uids of the executions that this process has admitted, until they are deleted. */
  readonly admitted: Set<string>;
  readonly engines: ReadonlyMap<EngineName, Engine>;
  /** The runs of each engine. */
  readonly runs: ReadonlyMap<EngineName, Informer<KubeObject, "target">>;
  /** The namespace of runs and target records. */
  readonly namespace: string;
  readonly defaults: PlanDefaults;
  readonly settings: ExecutorSettings;
  /** Since when no user can acknowledge in another user's name; undefined if one can. */
  readonly acknowledgersKnownSince?: AcknowledgersKnownSince | undefined;
}

export type AcknowledgersKnownSince = (signal: AbortSignal) => Promise<NameGuarantee | undefined>;

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Whether to read everything from the server, because a cache was found to be outdated. */
  readonly fresh: boolean;
}

export interface CachesOptions
  extends Pick<Caches, "client" | "kinds" | "catalogNamespace" | "namespace" | "settings" | "acknowledgersKnownSince"> {
  readonly engines: readonly Engine[];
  readonly defaults: Omit<PlanDefaults, "engines">;
}

export function openCaches(group: ControllerGroup, options: CachesOptions): Caches {
  const { namespace } = options;
  const executions = group.informer<WorkflowExecution, "uid">({
    type: workflowExecutions,
    indexes: { uid: ({ metadata }) => [metadata.uid ?? ""] },
  });
  const records = group.informer({ type: remediationTargets, query: { namespace } });
  const runs = openRuns(options.engines, (type) =>
    group.informer({
      type,
      query: { namespace, labelSelector: `${managedBy.label}=${managedBy.value}` },
      indexes: { target: targetHashKey },
    }),
  );
  const ownWrites = new OwnWrites();
  const admitted = new Set<string>();
  executions.subscribe((event, { metadata }) => event === "DELETED" && admitted.delete(metadata.uid ?? ""));
  const engines = new Map(options.engines.map((engine) => [engine.name, engine]));
  return {
    ...options,
    client: ownWrites.track(options.client, [executions, records, ...new Set(runs.values())]),
    defaults: { ...options.defaults, engines: new Set(engines.keys()) },
    executions,
    records,
    pauses: group.informer({ type: automationPauses }),
    entries: group.informer(catalogInformerOptions(options.catalogNamespace)),
    ownWrites,
    admitted,
    engines,
    runs,
  };
}

/** The target hash in the labels of an object, as the keys of an index or a queue. */
export const targetHashKey = labelKey(labelKeys.targetHash);

/** One informer for each kind of run: several engines may share one. */
function openRuns(
  engines: readonly Engine[],
  open: (type: ResourceType<KubeObject>) => Informer<KubeObject, "target">,
) {
  const byKind = new Map<string, Informer<KubeObject, "target">>();
  const byEngine = new Map<EngineName, Informer<KubeObject, "target">>();
  for (const { name, runs } of engines) {
    const informer = byKind.get(runs.kind) ?? open(runs);
    byKind.set(runs.kind, informer);
    byEngine.set(name, informer);
  }
  return byEngine;
}
