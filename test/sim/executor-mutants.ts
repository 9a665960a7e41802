import type { Engine } from "../../src/engines/index.ts";
import type { KubeClient, KubeObject, ResourceType, WatchEvent } from "../../src/kube/index.ts";
import {
  annotationKeys,
  labelKeys,
  parseTarget,
  type RemediationApprovalRequest,
  type RemediationTarget,
  type RemediationWorkflow,
  remediationApprovalRequests,
  remediationTargets,
  remediationWorkflows,
  runName,
  type TargetHolder,
  type WorkflowExecution,
  type WorkflowHistory,
  type WorkflowRef,
  workflowExecutions,
} from "../../src/resources/index.ts";
import type { MutateTools, Tools } from "./executor-sim.ts";

/** Assumes for ever that it holds what it once took, and starts its run without looking at the record again. */
export const startsWithoutRereading: MutateTools = (tools) => {
  const taken = new Map<string, TargetHolder>();
  return withRecords(tools, {
    read(record) {
      const holder = taken.get(record.metadata.name ?? "");
      return holder ? { ...record, status: { ...record.status, holder } } : record;
    },
    written(record) {
      const { name = "" } = record.metadata;
      if (record.status?.holder) taken.set(name, record.status.holder);
      else taken.delete(name);
      return record;
    },
  });
};

/** Writes the record as if it could not have changed since it was read. */
export const admitsRegardless: MutateTools = (tools, truth) =>
  withClient(tools, {
    ...tools.client,
    async update(type, object, call) {
      if (type.kind !== remediationTargets.kind) return tools.client.update(type, object, call);
      const { name = "", namespace = "" } = object.metadata;
      const current = await truth.get(type, { name, namespace });
      return tools.client.update(type, { ...object, metadata: current?.metadata ?? object.metadata }, call);
    },
  });

/** Deletes the run that has the name, whosever it is. */
export const deletesRunByName: MutateTools = (tools) =>
  withClient(tools, {
    ...tools.client,
    delete: (type, ref, _options, call) => tools.client.delete(type, ref, {}, call),
  });

/** Takes a run that was asked to stop for one that has stopped. */
export const freesBeforeStopped: MutateTools = (tools) => ({
  ...tools,
  engines: tools.engines.map((engine) => ({
    ...engine,
    stateOf(run) {
      const state = engine.stateOf(run);
      if (state.kind !== "running" || !run.metadata.annotations?.[annotationKeys.cancelReason]) return state;
      return {
        kind: "failed",
        progress: state.progress,
        completedAt: new Date(tools.client.serverNowMs()).toISOString(),
      };
    },
  })),
});

/** Counts an end again for each replica that comes across it. */
export const foldsAgain: MutateTools = (tools) => {
  const own = `-${tools.client.serverNowMs()}`;
  return withRecords(tools, {
    read: (record) => withUids(record, (uid) => (uid.endsWith(own) ? uid.slice(0, -own.length) : uid)),
    written: (record) => withUids(record, (uid) => (uid.split("-").length === 5 ? uid + own : uid)),
  });
};

/** Loses an earlier failure when it writes down another, as if it had read the record before both. */
export const forgetsAFailure: MutateTools = (tools) =>
  withRecords(tools, { read: (record) => record, written: (record) => withHistories(record, withoutOldestFailure) });

function withoutOldestFailure(history: WorkflowHistory): WorkflowHistory {
  const early = history.recentEnds.filter(({ wasExecutionFailure }) => wasExecutionFailure === false);
  if (early.length < 2) return history;
  const recentEnds = history.recentEnds.filter((end) => end !== early.at(-1));
  return { ...history, recentEnds, consecutiveFailures: Math.max(0, history.consecutiveFailures - 1) };
}

/** Counts each failure before acting for two. */
export const countsTwice: MutateTools = (tools) =>
  withRecords(tools, {
    read: (record) => record,
    written: (record) =>
      withHistories(record, (history) => {
        const early = history.recentEnds.filter(({ wasExecutionFailure }) => wasExecutionFailure === false);
        const isCounted = history.consecutiveFailures > early.length;
        return isCounted ? history : { ...history, consecutiveFailures: 2 * history.consecutiveFailures };
      }),
  });

/** Takes whatever run has the target's name for that of the execution that holds the target. */
export const adoptsByName: MutateTools = (tools) => {
  const holders = new Map<string, string>();
  const client = withChanged(tools.client, (type, object) => {
    const { metadata, status } = object as unknown as RemediationTarget;
    if (type.kind === remediationTargets.kind) holders.set(metadata.name ?? "", status?.holder?.executionUid ?? "");
    const isRun = tools.engines.some(({ runs }) => runs.kind === type.kind);
    return isRun ? (adopted(object as KubeObject, holders) as never) : object;
  });
  return withClient(tools, client);
};

function adopted(run: KubeObject, holders: ReadonlyMap<string, string>): KubeObject {
  const { annotations = {}, ...metadata } = run.metadata;
  const hash = metadata.labels?.[labelKeys.targetHash] ?? "";
  const holder = () => holders.get(hash) || annotations[annotationKeys.executionUid];
  return {
    ...run,
    metadata: {
      ...metadata,
      get annotations() {
        return { ...annotations, [annotationKeys.executionUid]: holder() ?? "" };
      },
    },
  };
}

/** After a crash it finds the target held, and does not see that it is by itself. */
export const skipsItself: MutateTools = (tools) => {
  const admitted = new Set<string>();
  const disguised = (holder: TargetHolder): TargetHolder =>
    admitted.has(holder.executionUid) ? holder : { ...holder, executionUid: `not-${holder.executionUid}` };
  return withRecords(tools, {
    read: (record) => withHolder(record, disguised),
    written: (record) =>
      withHolder(record, (holder) => {
        admitted.add(holder.executionUid);
        return { ...holder, executionUid: holder.executionUid.replace(/^not-/, "") };
      }),
  });
};

/** A cooldown lasts as long as the run that succeeded is there. */
export const cooldownIsTheRun: MutateTools = (tools, truth) =>
  withClient(tools, {
    ...tools.client,
    async get(type, ref, call) {
      const object = await tools.client.get(type, ref, call);
      if (!object || type.kind !== remediationTargets.kind) return object;
      const record = object as unknown as RemediationTarget;
      return ((await hasRun(record, tools.engines, truth)) ? record : withoutSuccess(record)) as never;
    },
  });

async function hasRun({ spec, metadata }: RemediationTarget, engines: readonly Engine[], truth: KubeClient) {
  const read = parseTarget(spec.targetResource);
  if (read.kind === "problem") return false;
  const ref = { namespace: metadata.namespace ?? "", name: runName(read.target) };
  for (const { runs } of engines) if (await truth.get(runs, ref)) return true;
  return false;
}

function withoutSuccess(record: RemediationTarget): RemediationTarget {
  return withHistories(record, ({ lastSuccess: _, ...history }) => history);
}

/** Runs the image and service account that an execution names, and takes them for those of the catalog. */
export const trustsTheExecution: MutateTools = (tools) => {
  const wishes = new Map<string, Partial<WorkflowRef>>();
  const client = withChanged(tools.client, (type, object) => {
    if (type.kind === workflowExecutions.kind) {
      const { workflowId, containerImage, serviceAccountName } = (object as WorkflowExecution).spec.workflowRef;
      wishes.set(workflowId, { containerImage, ...(serviceAccountName === undefined ? {} : { serviceAccountName }) });
    }
    return type.kind === remediationWorkflows.kind
      ? (asWished(object as RemediationWorkflow, wishes) as never)
      : object;
  });
  return withClient(tools, client);
};

/** The latest wish counts at each reading: caches keep the entry. */
function asWished(entry: RemediationWorkflow, wishes: ReadonlyMap<string, Partial<WorkflowRef>>): RemediationWorkflow {
  const { spec } = entry;
  return {
    ...entry,
    get spec() {
      return { ...spec, ...wishes.get(spec.workflowId) };
    },
  };
}

/** Takes every question for one that was approved. */
export const takesAnyAnswer: MutateTools = (tools) =>
  withApprovals(tools, ({ status: _, ...question }) => ({
    ...question,
    status: { decision: "Approved", decidedBy: "kim", decidedAt: question.spec.requiredBy, decisionMessage: "" },
  }));

/** Takes an approval for another one at each reading, so that it never finds that one was used. */
export const reusesAnApproval: MutateTools = (tools) => {
  let readings = 0;
  return withApprovals(tools, ({ metadata, ...approval }) => {
    const suffix = (++readings).toString(16).padStart(8, "0");
    return { ...approval, metadata: { ...metadata, uid: `${metadata.uid?.slice(0, -suffix.length)}${suffix}` } };
  });
};

function withApprovals(
  tools: Tools,
  change: (approval: RemediationApprovalRequest) => RemediationApprovalRequest,
): Tools {
  const client = withChanged(tools.client, (type, object) => {
    const isApproval = type.kind === remediationApprovalRequests.kind;
    return isApproval ? (change(object as RemediationApprovalRequest) as never) : object;
  });
  return withClient(tools, client);
}

function withUids(record: RemediationTarget, change: (uid: string) => string): RemediationTarget {
  return withHistories(record, (history) => ({
    ...history,
    recentEnds: history.recentEnds.map((end) => ({ ...end, executionUid: change(end.executionUid) })),
  }));
}

function withHistories(
  record: RemediationTarget,
  change: (history: WorkflowHistory) => WorkflowHistory,
): RemediationTarget {
  const workflows = record.status?.workflows?.map(change);
  return workflows ? { ...record, status: { ...record.status, workflows } } : record;
}

function withHolder(record: RemediationTarget, change: (holder: TargetHolder) => TargetHolder): RemediationTarget {
  const holder = record.status?.holder;
  return holder ? { ...record, status: { ...record.status, holder: change(holder) } } : record;
}

interface RecordGlasses {
  read(record: RemediationTarget): RemediationTarget;
  written(record: RemediationTarget): RemediationTarget;
}

/** Shows records as `read` changes them, and writes them as `written` changes them. */
function withRecords(tools: Tools, { read, written }: RecordGlasses): Tools {
  const isRecord = (type: ResourceType) => type.kind === remediationTargets.kind;
  const shown = withChanged(tools.client, (type, object) =>
    isRecord(type) ? (read(object as RemediationTarget) as never) : object,
  );
  return withClient(tools, {
    ...shown,
    update: (type, object, call) =>
      shown.update(type, isRecord(type) ? (written(object as unknown as RemediationTarget) as never) : object, call),
  });
}

/** Passes everything that the server shows through `hear`. */
function withChanged(client: KubeClient, change: <T>(type: ResourceType, object: T) => T): KubeClient {
  return {
    ...client,
    async get(type, ref, call) {
      const object = await client.get(type, ref, call);
      return object && change(type, object);
    },
    async list(type, query, call) {
      const list = await client.list(type, query, call);
      return { ...list, items: list.items.map((object) => change(type, object)) };
    },
    async update(type, object, call) {
      const outcome = await client.update(type, object, call);
      return outcome.kind === "updated" ? { ...outcome, object: change(type, outcome.object) } : outcome;
    },
    watch: (type, query, call) => heardEvents(client.watch(type, query, call), (object) => change(type, object)),
  };
}

async function* heardEvents<T>(
  events: AsyncIterable<WatchEvent<T>>,
  change: (object: T) => T,
): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) {
    yield event.type === "BOOKMARK" ? event : { ...event, object: change(event.object) };
  }
}

function withClient(tools: Tools, client: KubeClient): Tools {
  return { ...tools, client };
}
