import { memoryLocks } from "../../src/coordination/index.ts";
import {
  automationPauses,
  begunStep,
  type CodingTask,
  type CodingTaskStep,
  codingTasks,
} from "../../src/resources/index.ts";
import type { MutateAgent } from "./agent-sim.ts";

/** Does not look whether it has posted a note before. */
export const saysItAgain: MutateAgent = (options) => {
  const { gitlab } = options;
  const isOurs = ({ body }: { readonly body: string }) => body.includes("<!-- interlock");
  return {
    ...options,
    gitlab: {
      ...gitlab,
      discussions: async (place, signal) =>
        (await gitlab.discussions(place, signal)).map(({ id, notes }) => ({
          id,
          notes: notes.filter((note) => !isOurs(note)),
        })),
      notesSince: async (place, since, signal) =>
        (await gitlab.notesSince(place, since, signal)).filter((note) => !isOurs(note)),
    },
  };
};

/** Does not look whether its commit is there already. */
export const commitsAgain: MutateAgent = (options) => ({
  ...options,
  workshop: { ...options.workshop, findTask: async () => undefined },
});

/** Each process has locks of its own, and pushes over whatever is there. */
export const locksOfItsOwn: MutateAgent = (options) => {
  const { clock, random, workshop } = options;
  return {
    ...options,
    locks: memoryLocks({ clock, random }),
    workshop: {
      ...workshop,
      async push(repository, order, signal) {
        const expectedSha = await workshop.branchHead(repository, order.branch, signal);
        return workshop.push(repository, { ...order, expectedSha }, signal);
      },
    },
  };
};

/**
 * Loses the results of its steps. It keeps that a comment is acknowledged and that the work began: without these a task
 * is acknowledged again and again, and a seed takes twenty times as many steps.
 */
export const keepsNoJournal: MutateAgent = (options) => {
  const { client } = options;
  const isKept = ({ name }: CodingTaskStep) => name === "acknowledge" || name === begunStep;
  return {
    ...options,
    client: {
      ...client,
      async get(type, ref, call) {
        const object = await client.get(type, ref, call);
        if (type.kind !== codingTasks.kind || !object) return object;
        const { status } = object as never as CodingTask;
        return { ...object, status: { ...status, steps: status?.steps?.filter(isKept) ?? [] } } as never;
      },
    },
  };
};

/** Serves every user. */
export const servesStrangers: MutateAgent = (options) => ({
  ...options,
  gitlab: { ...options.gitlab, accessLevel: async () => 30 },
});

/** Never notices a pause. */
export const ignoresPauses: MutateAgent = (options) => {
  const { client } = options;
  return {
    ...options,
    client: {
      ...client,
      list: (type, query, call) => client.list(type, nothingOf(type.kind, query), call),
      watch: (type, query, call) => client.watch(type, nothingOf(type.kind, query) as never, call),
    },
  };
};

function nothingOf<Q extends object>(kind: string, query: Q | undefined): Q | undefined {
  return kind === automationPauses.kind ? ({ ...query, labelSelector: "there-is=none" } as unknown as Q) : query;
}
