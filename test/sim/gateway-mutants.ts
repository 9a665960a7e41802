import { remediationRequests } from "../../src/resources/index.ts";
import type { MutateGateway } from "./gateway-sim.ts";

/** Says that it was kept while the disk still writes. */
export const answersEarly: MutateGateway = (options) => {
  const { journal } = options;
  if (!journal) return options;
  const keep: typeof journal.keep = async (tallies) => void journal.keep(tallies).catch(() => {});
  return {
    ...options,
    journal: { left: journal.left, keep, settle: (t) => journal.settle(t), close: () => journal.close() },
  };
};

/** Begins anew after a crash, as if nothing had been counted that is not in a status. */
export const forgetsItsJournal: MutateGateway = (options) => {
  const { journal } = options;
  if (!journal) return options;
  return {
    ...options,
    journal: { left: [], keep: (t) => journal.keep(t), settle: (t) => journal.settle(t), close: () => journal.close() },
  };
};

/** Gives each incident a name that nobody else would take, so that two creates never meet. */
export const namesByChance: MutateGateway = (options) => {
  const { client, random } = options;
  const create: typeof client.create = (type, object, call) => {
    const name = `${object.metadata.name}${random.id().slice(0, 4)}`;
    const own = type.kind === remediationRequests.kind ? { ...object, metadata: { ...object.metadata, name } } : object;
    return client.create(type, own, call);
  };
  return { ...options, client: { ...client, create } };
};
