import { once } from "node:events";
import { informer, type KubeClient, KubeError, type PodLogs } from "../../kube/index.ts";
import { type Random, sleep } from "../../time/index.ts";
import { type Pod, pods } from "../pods.ts";
import { LineSplitter } from "./line-splitter.ts";
import { type PodStep, podSelector, podSteps } from "./pod-steps.ts";
import { ResumedLines } from "./resumed-lines.ts";
import { type FollowStepsOptions, isWantedStep, type LineFilter } from "./step-line.ts";

export interface FollowPodsOptions extends FollowStepsOptions {
  readonly client: KubeClient;
  readonly podLogs: PodLogs;
  readonly run: { readonly kind: string; readonly uid: string; readonly namespace: string };
  readonly random: Random;
  /** Aborts when no further step will begin: the function then ends when all output is printed. */
  readonly runEnded: AbortSignal;
  readonly problem: (message: string) => void;
}

/** Between attempts to open a stream again. */
const retryMs = 250;

/** Prints the output of a run's pods, also of those that begin later. Throws if the permission to read it is missing. */
export async function followPods(options: FollowPodsOptions): Promise<void> {
  const { client, run, filter, clock, random, runEnded, problem } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const followed = new Map<string, Promise<void>>();
  let fail = (_error: unknown) => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const query = { namespace: run.namespace, labelSelector: podSelector(run) };
  const cache = informer({
    client,
    type: pods,
    query,
    clock,
    random,
    signal,
    problem: ({ kind, message, error }) => (kind === "forbidden" ? fail(error) : problem(message)),
    backoff: { baseMs: 100, maxMs: 2_000, jitter: 0.5 },
  });
  const complete = followAll();
  // Of several failures only the first is thrown.
  for (const one of [complete, failed]) one.catch(() => {});
  try {
    await Promise.race([complete, failed]);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  } finally {
    stop.abort();
  }

  async function followAll(): Promise<void> {
    await cache.synced;
    const followCached = () => followNew(cache.list());
    cache.subscribe(followCached);
    await whenAborted(AbortSignal.any([runEnded, signal]));
    if (!signal.aborted) {
      followCached();
      // The cache may not show the last pods yet.
      followNew((await client.list(pods, query)).items);
    }
    followCached();
    await Promise.all(followed.values());
  }

  function followNew(found: readonly Pod[]): void {
    for (const step of podSteps(found)) {
      const key = containerKey(step);
      if (followed.has(key) || !isWantedStep(step, filter)) continue;
      // A pod that is not in the cache any more has no further output.
      const hasEnded = () => podSteps(cache.list()).find((other) => containerKey(other) === key)?.hasEnded ?? true;
      const output = followContainer(step, hasEnded, { ...options, signal });
      output.catch(fail);
      followed.set(key, output);
    }
  }
}

function containerKey({ podUid, container }: PodStep): string {
  return `${podUid}/${container}`;
}

/** Prints the output of one container until it ends. A stream that breaks off is opened again at the last line. */
async function followContainer(step: PodStep, hasEnded: () => boolean, options: FollowPodsOptions): Promise<void> {
  const { podLogs, filter, clock, signal, runEnded, print, problem } = options;
  const { namespace, pod, container } = step;
  const lines = new ResumedLines();
  let isFirst = true;
  while (!signal.aborted) {
    // Read before the stream is opened: a stream that is opened after the end has all output.
    const isLast = hasEnded() || runEnded.aborted;
    const sinceTime = lines.sinceTime ?? sinceText(filter);
    const query = {
      ...{ namespace, pod, container, follow: !isLast },
      ...(sinceTime !== undefined && { sinceTime }),
      ...(isFirst && filter.tail !== undefined && { tailLines: filter.tail }),
    };
    const splitter = new LineSplitter();
    try {
      lines.reopen();
      for await (const chunk of podLogs(query, { signal })) {
        isFirst = false;
        await printLines(splitter.take(chunk));
      }
      // An unfinished line of a stream that broke off is completed by the next stream.
      if (isLast || hasEnded()) await printLines(splitter.end());
      if (isLast) return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KubeError) || error.code === "forbidden") throw error;
      if (isLast) return problem(error.message);
    }
    await sleep(clock, retryMs, signal).catch(() => {});
  }

  async function printLines(texts: readonly string[]) {
    for (const line of texts) {
      const text = lines.take(line);
      if (text !== undefined) await print({ task: step.task, attempt: step.attempt, step: step.step, text });
    }
  }
}

function sinceText({ sinceMs }: LineFilter): string | undefined {
  return sinceMs === undefined ? undefined : `${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
}

async function whenAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
