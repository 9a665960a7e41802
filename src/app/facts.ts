import type { Config } from "../config/index.ts";
import { type KubeClient, KubeError } from "../kube/index.ts";
import type { Facts, FactsReading } from "../policy/index.ts";
import {
  type KindsCache,
  type ObjectTarget,
  objectFacts,
  parseTarget,
  type RemediationRequestSpec,
  toObjectTarget,
  toResourceType,
} from "../resources/index.ts";
import { type Clock, formatDuration } from "../time/index.ts";

export interface FactsOptions {
  readonly client: KubeClient;
  readonly kinds: Pick<KindsCache, "current">;
  readonly clock: Clock;
  /** The timeout of one read. */
  readonly timeoutMs: number;
  /** The maximum number of reads in a minute. */
  readonly readsPerMinute: number;
}

/** The settings for reading facts. */
export function factsLimits({ rules }: Config): Pick<FactsOptions, "timeoutMs" | "readsPerMinute"> {
  return { timeoutMs: rules.factsTimeoutMs, readsPerMinute: rules.factsPerMinute };
}

/** Reads the facts that rules need about the objects behind an incident. Never throws: a fact that cannot be read is explained. */
export type ReadFacts = (
  incident: Pick<RemediationRequestSpec, "targetResource">,
  /** The object that the signal named, in canonical form, if it has an owner. */
  subject: string | undefined,
  signal: AbortSignal,
) => Promise<Facts>;

/** How long the facts of an object are reused: the series of one incident are diagnosed with one read. */
const freshForMs = 1_000;

/** Creates a reader with its own limit. */
export function factsReader(options: FactsOptions): ReadFacts {
  const { kinds, clock } = options;
  const budget = new ReadBudget(options);
  const recent = new Map<string, { readonly atMs: number; readonly reading: Promise<FactsReading> }>();

  function read(target: ObjectTarget, apiVersion: string | undefined, signal: AbortSignal): Promise<FactsReading> {
    const nowMs = clock.now();
    for (const [key, { atMs }] of recent) if (nowMs - atMs >= freshForMs) recent.delete(key);
    const known = recent.get(target.text);
    if (known) return known.reading;
    const reading = budget.take()
      ? readObject(target, apiVersion, options, signal)
      : Promise.resolve(unreadable(`was not read: ${options.readsPerMinute} objects were read in the last minute`));
    recent.set(target.text, { atMs: nowMs, reading });
    return reading;
  }

  return async ({ targetResource }, subject, signal) => {
    const owner = toObjectTarget(targetResource, kinds.current);
    if (owner.kind === "problem") {
      const nothing = unreadable(`cannot be found: the subject ${owner.problem}`);
      return { object: nothing, owner: nothing };
    }
    const ownerFacts = await read(owner.target, targetResource.apiVersion, signal);
    const object = subject === undefined ? owner : parseTarget(subject, kinds.current);
    if (object.kind === "problem" || object.target.type !== "object" || object.target.text === owner.target.text) {
      return { object: ownerFacts, owner: ownerFacts };
    }
    return { object: await read(object.target, undefined, signal), owner: ownerFacts };
  };
}

async function readObject(
  target: ObjectTarget,
  apiVersion: string | undefined,
  { client, kinds, clock, timeoutMs }: FactsOptions,
  outer: AbortSignal,
): Promise<FactsReading> {
  const type = toResourceType(target, apiVersion, kinds.current);
  if (!type) return unreadable(`(${target.text}) is of a kind whose version is not known`);
  const { namespace, name } = target;
  const stop = new AbortController();
  const timer = clock.after(timeoutMs, () => stop.abort());
  try {
    const signal = AbortSignal.any([outer, stop.signal]);
    const object = await client.get(type, namespace === undefined ? { name } : { namespace, name }, { signal });
    return object ? { kind: "read", facts: objectFacts(object) } : unreadable(`(${target.text}) does not exist`);
  } catch (error) {
    const { message } = error as Error;
    if (stop.signal.aborted) return unreadable(`(${target.text}) was not read within ${formatDuration(timeoutMs)}`);
    if (error instanceof KubeError && error.code === "forbidden") {
      return unreadable(
        `(${target.text}) may not be read: ${message}; grant get on ${type.plural} to the orchestrator`,
      );
    }
    return unreadable(`(${target.text}) cannot be read: ${message}`);
  } finally {
    timer.cancel();
  }
}

function unreadable(problem: string): FactsReading {
  return { kind: "unreadable", problem };
}

/** Limits the reads in any minute. */
class ReadBudget {
  readonly #options: Pick<FactsOptions, "clock" | "readsPerMinute">;
  #takenAt: number[] = [];

  constructor(options: Pick<FactsOptions, "clock" | "readsPerMinute">) {
    this.#options = options;
  }

  take(): boolean {
    const { clock, readsPerMinute } = this.#options;
    const nowMs = clock.now();
    this.#takenAt = this.#takenAt.filter((atMs) => nowMs - atMs < 60_000);
    if (this.#takenAt.length >= readsPerMinute) return false;
    this.#takenAt.push(nowMs);
    return true;
  }
}
