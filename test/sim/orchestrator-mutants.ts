import type { KubeClient, KubeObject, ResourceType, WatchEvent } from "../../src/kube/index.ts";
import { remediationRequests, type WorkflowExecution, workflowExecutions } from "../../src/resources/index.ts";
import type { MutateOrchestrator } from "./orchestrator-sim.ts";

/** Takes whatever has ended for a success: followers of a failure are treated as remediated. */
export const followsAFailure: MutateOrchestrator = (options) => ({
  ...options,
  client: withGlasses(options.client, (execution) => {
    const { status } = execution;
    if (status?.phase !== "Failed") return execution;
    return { ...execution, status: { ...status, phase: "Completed", outcome: "Success" } as never };
  }),
});

/** An answer that does not come was a no: so another execution is made, under another name. */
export const makesASecondExecution: MutateOrchestrator = (options) => {
  const { client } = options;
  let n = 0;
  return {
    ...options,
    client: {
      ...client,
      async create(type, object, call) {
        if (type.kind !== workflowExecutions.kind) return client.create(type, object, call);
        try {
          return await client.create(type, object, call);
        } catch {
          const name = `${object.metadata.name}-again-${++n}`;
          return client.create(type, { ...object, metadata: { ...object.metadata, name } }, call);
        }
      },
    },
  };
};

/** A blocked incident is not decided again when its time has come. */
export const neverLooksAgain: MutateOrchestrator = (options) => {
  const { clock } = options;
  const never = { cancel() {}, setBackground() {} };
  return {
    ...options,
    clock: {
      now: () => clock.now(),
      wallMs: () => clock.wallMs(),
      // Only what is tried again soon is tried again at all.
      after: (ms, wake, how) => (ms > 1_500 ? never : clock.after(ms, wake, how)),
    },
  };
};

/** Writes what it knows over whatever is there. */
export const statusWithoutVersion: MutateOrchestrator = (options, truth) => {
  const { client } = options;
  return {
    ...options,
    client: {
      ...client,
      async update(type, object, call) {
        if (type.kind !== remediationRequests.kind) return client.update(type, object, call);
        const { name = "", namespace = "" } = object.metadata;
        const current = await truth.get(type, { name, namespace });
        return client.update(type, { ...object, metadata: current?.metadata ?? object.metadata }, call);
      },
    },
  };
};

/** Does not wait until what it decided is on record. */
export const actsBeforeItIsRecorded: MutateOrchestrator = (options) => ({
  ...options,
  ledger: {
    async append(event) {
      void options.ledger.append(event).catch(() => {});
    },
    close: () => options.ledger.close(),
  },
});

/** Deals with the youngest first. */
export const youngestFirst: MutateOrchestrator = (options) => ({
  ...options,
  client: withIncidentsAged(options.client),
});

/** Does not see that an operator cancels an incident. */
export const overlooksCancelledIncidents: MutateOrchestrator = (options) => ({
  ...options,
  client: seenThrough(options.client, remediationRequests, (incident) => {
    const { annotations: _, ...metadata } = incident.metadata;
    return { ...incident, metadata };
  }),
});

/** Takes the end of an execution that an operator cancelled for a failure. */
export const takesCancelsForFailures: MutateOrchestrator = (options) => ({
  ...options,
  client: withGlasses(options.client, (execution) => {
    const { status } = execution;
    if (status?.phase !== "Failed") return execution;
    const { cancellation: _, ...failureDetails } = status.failureDetails;
    return { ...execution, status: { ...status, failureDetails } };
  }),
});

function withIncidentsAged(client: KubeClient): KubeClient {
  const aged = <T extends KubeObject>(object: T): T => {
    const { creationTimestamp = "" } = object.metadata;
    const turned = new Date(3_400_000_000_000 - Date.parse(creationTimestamp)).toISOString();
    return { ...object, metadata: { ...object.metadata, creationTimestamp: turned } };
  };
  return seenThrough(client, remediationRequests, aged);
}

function withGlasses(client: KubeClient, show: (execution: WorkflowExecution) => WorkflowExecution): KubeClient {
  return seenThrough(client, workflowExecutions, show as never);
}

/** Shows objects of one kind as `show` changes them. */
function seenThrough(client: KubeClient, kind: ResourceType, show: <T extends KubeObject>(object: T) => T): KubeClient {
  const isShown = (type: ResourceType) => type.kind === kind.kind;
  return {
    ...client,
    async get(type, ref, call) {
      const object = await client.get(type, ref, call);
      return object && isShown(type) ? show(object) : object;
    },
    async list(type, query, call) {
      const list = await client.list(type, query, call);
      return isShown(type) ? { ...list, items: list.items.map((item) => show(item)) } : list;
    },
    watch: (type, query, call) =>
      isShown(type) ? shownEvents(client.watch(type, query, call), show) : client.watch(type, query, call),
  };
}

async function* shownEvents<T extends KubeObject>(
  events: AsyncIterable<WatchEvent<T>>,
  show: (object: T) => T,
): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) yield event.type === "BOOKMARK" ? event : { ...event, object: show(event.object) };
}
