import type { Admission } from "../../src/gateway/index.ts";
import type { KubeClient, WatchEvent } from "../../src/kube/index.ts";
import { type RemediationRequest, remediationRequests, type Signal } from "../../src/resources/index.ts";
import type { GatewayMutation } from "./gateway-sim.ts";

/** Responds that it has counted before the disk has it. */
export const countsBeforeDurable: GatewayMutation = {
  occurrenceLog: (log) => ({
    left: log.left,
    async keep(tallies) {
      void log.keep(tallies).catch(() => {});
    },
    settle: (tally) => log.settle(tally),
    close: () => log.close(),
  }),
};

/** Starts without the counts of the former process. */
export const forgetsTheOccurrenceLog: GatewayMutation = {
  occurrenceLog: (log) => ({
    left: [],
    keep: (tallies) => log.keep(tallies),
    settle: (tally) => log.settle(tally),
    close: () => log.close(),
  }),
};

/** Takes a repeated occurrence for a new one. */
export const repeatsOccurrences: GatewayMutation = {
  gateway: (gateway) => ({
    admitAll: (signals) => gateway.admitAll(signals.map(({ isOccurrence: _, ...signal }) => signal)),
  }),
};

/** There is an incident of that name already, open or not: then all is well. */
export const alreadyExistsIsSuccess: GatewayMutation = {
  client: (client) => ({
    ...client,
    async create(type, object, call) {
      const outcome = await client.create(type, object, call);
      if (outcome.kind === "already-exists" && isIncident(type)) throw new ExistsAlready(object);
      return outcome;
    },
  }),
  gateway: (gateway) => ({
    async admitAll(signals) {
      const answers = await gateway.admitAll(signals);
      return answers.map((answer) => {
        if (answer.kind !== "failed" || !(answer.error instanceof ExistsAlready)) return answer;
        const incident = answer.error.incident as RemediationRequest;
        return { kind: "ignored", fingerprint: incident.spec.signalFingerprint, because: "it exists" };
      });
    },
  }),
};

class ExistsAlready extends Error {
  readonly incident: unknown;

  constructor(incident: unknown) {
    super("it exists already");
    this.incident = incident;
  }
}

/** Gives incidents random names. */
export const takesAnyName: GatewayMutation = {
  client: (client) => {
    let n = 0;
    return {
      ...client,
      create: (type, object, call) => {
        const name = `${object.metadata.name}-${client.serverNowMs()}-${++n}`;
        const named = isIncident(type) ? { ...object, metadata: { ...object.metadata, name } } : object;
        return client.create(type, named, call);
      },
    };
  },
};

/** Overwrites the status with its own state. */
export const statusWithoutVersion: GatewayMutation = {
  client: (client) => ({
    ...client,
    patch(type, ref, patch, call) {
      if (!isIncident(type) || !("merge" in patch)) return client.patch(type, ref, patch, call);
      const { metadata: _, ...merge } = patch.merge as { readonly metadata?: object };
      return client.patch(type, ref, { merge }, call);
    },
  }),
};

/** Does not see that an incident is closed. */
export const countsOnClosed: GatewayMutation = {
  client: (client) => ({
    ...client,
    async get(type, ref, call) {
      const object = await client.get(type, ref, call);
      return object && isIncident(type) ? (asOpen(object as unknown as RemediationRequest) as never) : object;
    },
    async list(type, query, call) {
      const list = await client.list(type, query, call);
      return isIncident(type) ? { ...list, items: list.items.map((item) => asOpen(item as never) as never) } : list;
    },
    watch: (type, query, call) => openEvents(client.watch(type, query, call), isIncident(type)),
  }),
};

async function* openEvents<T>(events: AsyncIterable<WatchEvent<T>>, change: boolean): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) {
    yield change && event.type !== "BOOKMARK" ? { ...event, object: asOpen(event.object as never) as T } : event;
  }
}

function asOpen(incident: RemediationRequest): RemediationRequest {
  return incident.status ? { ...incident, status: { ...incident.status, phase: "Pending" } as never } : incident;
}

/** Takes an end that fits nothing for news, and opens an incident with it. */
export const resolvedOpens: GatewayMutation = {
  gateway: (gateway) => ({
    async admitAll(signals) {
      const answers = [...(await gateway.admitAll(signals))];
      for (const [i, answer] of answers.entries()) {
        const signal = signals[i] as Signal;
        if (signal.status !== "resolved" || answer.kind !== "ignored") continue;
        const firingAt = new Date(Date.parse(signal.endedAt ?? "") + 1).toISOString();
        const again: Signal = { ...signal, status: "firing", firingAt };
        answers[i] = (await gateway.admitAll([again]))[0] as Admission;
      }
      return answers;
    },
  }),
};

/** Responds before the record is durable. */
export const answersBeforeTheLedger: GatewayMutation = {
  ledger: (ledger) => ({
    async append(event) {
      void ledger.append(event).catch(() => {});
    },
    close: () => ledger.close(),
  }),
};

function isIncident(type: Parameters<KubeClient["get"]>[0]): boolean {
  return type.kind === remediationRequests.kind;
}
