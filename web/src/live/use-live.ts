import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Changes, ProblemDocument } from "../../../src/console/wire.ts";
import { ApiError } from "../api.ts";
import { subscribe } from "./live.ts";
import type { Merged } from "./merge.ts";

/** A value that was read from the server, and that the stream keeps current. */
export interface LiveState<T> {
  /** Undefined until it was read once. */
  readonly value: T | undefined;
  /** Why the last attempt to read it failed. */
  readonly problem: ProblemDocument | undefined;
}

export interface LiveSource<T> {
  read(signal: AbortSignal): Promise<T>;
  /** The value after changes of rows; inexact if it must be read again. */
  merge(value: T, changes: Changes): Merged<T>;
  /** Makes an inexact value exact; by default it is read again. */
  correct?(value: T, signal: AbortSignal): Promise<T>;
  /** Corrects the value in this interval while the page is visible: for what the stream does not report. */
  readonly everyMs?: number;
}

export interface Live<T> {
  readonly state: ReadonlySignal<LiveState<T>>;
  /** Changes the value by what was read elsewhere, such as the next page of a list. */
  update(change: (value: T) => T): void;
  /** Reads and follows the value; returns the end. */
  start(): () => void;
}

/** Several changes cause one correction after `delay`; corrections begin at least `pause` apart. */
const correction = { delayMs: 100, pauseMs: 1_000 };
/** A server that does not answer, or is not ready yet, is asked again after so long. */
const retryMs = 2_000;

/** Follows a value while the component is mounted. A different `key` stands for a different value. */
export function useLive<T>(key: string, source: () => LiveSource<T>): Live<T> {
  // The key identifies the source, which is a new function each time.
  const live = useMemo(() => openLive(source(), subscribe), [key]);
  useEffect(() => live.start(), [live]);
  return live;
}

interface Paged {
  /** Asks for the next page; undefined if there is none. */
  readonly next: string | undefined;
}

/** A function that reads the next page of a list, if there is one and it is not being read. `append` adds it to the list. */
export function useLoadMore<T extends Paged>(
  live: Live<T>,
  { read, append }: { read(after: string): Promise<T>; append(list: T, page: T): T },
): () => void {
  // Another source has another live value.
  return useMemo(() => {
    let isReading = false;
    return () => {
      const after = live.state.peek().value?.next;
      if (after === undefined || isReading) return;
      isReading = true;
      read(after)
        .then((page) => live.update((list) => append(list, page)))
        .catch(() => undefined)
        .finally(() => {
          isReading = false;
        });
    };
  }, [live]);
}

/** A value without a component. `follow` subscribes to the changes of rows. */
export function openLive<T>(source: LiveSource<T>, follow: typeof subscribe): Live<T> {
  const state = signal<LiveState<T>>({ value: undefined, problem: undefined });
  let reading: { readonly controller: AbortController; readonly missed: Changes[] } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let correctedAt = Number.NEGATIVE_INFINITY;

  async function load(read: (signal: AbortSignal) => Promise<T>): Promise<void> {
    reading?.controller.abort();
    clearTimeout(retry);
    const attempt = { controller: new AbortController(), missed: [] as Changes[] };
    reading = attempt;
    const { signal } = attempt.controller;
    try {
      const value = await read(signal);
      if (signal.aborted) return;
      reading = undefined;
      state.value = { value, problem: undefined };
      // They may be newer than what was read.
      for (const changes of attempt.missed) apply(changes);
    } catch (error) {
      if (signal.aborted) return;
      reading = undefined;
      if (!(error instanceof ApiError)) throw error;
      state.value = { value: state.peek().value, problem: error.problem };
      if (error.isTemporary) retry = setTimeout(() => void load(read), retryMs);
    }
  }

  function apply(changes: Changes): void {
    const { value } = state.peek();
    if (value === undefined) return;
    const merged = source.merge(value, changes);
    if (merged.value !== value) state.value = { value: merged.value, problem: undefined };
    if (!merged.isExact) scheduleCorrection();
  }

  function scheduleCorrection(): void {
    if (timer !== undefined) return;
    const delay = Math.max(correction.delayMs, correctedAt + correction.pauseMs - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      correctedAt = performance.now();
      correctNow();
    }, delay);
  }

  function correctNow(): void {
    const { value } = state.peek();
    const { correct } = source;
    void load(correct && value !== undefined ? (signal) => correct(value, signal) : source.read);
  }

  /** A read that takes longer than the interval is waited for. */
  function tick(): void {
    if (!document.hidden && !reading) correctNow();
  }

  return {
    state,
    update(change) {
      const { value } = state.peek();
      if (value !== undefined) state.value = { value: change(value), problem: undefined };
    },
    start() {
      void load(source.read);
      const unsubscribe = follow({
        onReset: () => void load(source.read),
        onChanges: (changes) => {
          reading?.missed.push(changes);
          apply(changes);
        },
      });
      const interval = source.everyMs === undefined ? undefined : setInterval(tick, source.everyMs);
      return () => {
        clearInterval(interval);
        unsubscribe();
        reading?.controller.abort();
        clearTimeout(timer);
        clearTimeout(retry);
        timer = undefined;
      };
    },
  };
}
