import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Changes, ProblemDocument } from "../../../src/console/wire.ts";
import { ApiError, getJson } from "../api.ts";
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
  /** Reads the change that makes an inexact value exact; by default the value is read again. */
  correct?(signal: AbortSignal): Promise<(value: T) => T>;
  /** Reads the change that appends the next page of a list, if there is one. */
  readMore?(value: T, signal: AbortSignal): Promise<(value: T) => T>;
  /** Corrects the value at this interval while the page is visible, for data that the stream does not report. */
  readonly everyMs?: number;
}

export interface Live<T> {
  readonly state: ReadonlySignal<LiveState<T>>;
  /** Reads the next page of a list, if there is one and it is not being read. */
  loadMore(): void;
  /** Reads and follows the value; returns the end. */
  start(): () => void;
}

/** Several changes cause one correction after `delay`; corrections begin at least `pause` apart. */
const correction = { delayMs: 100, pauseMs: 1_000 };
/** The pause before a read is repeated that the server did not answer, or was not ready for. */
const retryMs = 2_000;

/** Follows a value while the component is mounted. A different `key` stands for a different value. */
export function useLive<T>(key: string, source: () => LiveSource<T>): Live<T> {
  // The key identifies the source, which is a new function each time.
  const live = useMemo(() => openLive(source(), subscribe), [key]);
  useEffect(() => live.start(), [live]);
  return live;
}

/** A value without a component. `follow` subscribes to the changes of rows. */
export function openLive<T>(source: LiveSource<T>, follow: typeof subscribe): Live<T> {
  const state = signal<LiveState<T>>({ value: undefined, problem: undefined });
  /** The whole value must be read: it was never read, or changes were lost. */
  let isOutdated = true;
  let reading: { readonly controller: AbortController; readonly missed: Changes[] } | undefined;
  let readingMore: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let correctedAt = Number.NEGATIVE_INFINITY;

  async function load(): Promise<void> {
    reading?.controller.abort();
    clearTimeout(retry);
    const attempt = { controller: new AbortController(), missed: [] as Changes[] };
    reading = attempt;
    const { signal } = attempt.controller;
    try {
      const change = await readChange(signal);
      if (signal.aborted) return;
      reading = undefined;
      isOutdated = false;
      change();
      // They may be newer than what was read.
      for (const changes of attempt.missed) merge(changes);
    } catch (error) {
      if (signal.aborted) return;
      reading = undefined;
      if (!(error instanceof ApiError)) throw error;
      state.value = { value: state.peek().value, problem: error.problem };
      if (error.isTemporary) retry = setTimeout(() => void load(), retryMs);
    }
  }

  /** Reads the value, or its correction. The function that it resolves to applies it. */
  async function readChange(signal: AbortSignal): Promise<() => void> {
    if (source.correct && !isOutdated) {
      const change = await source.correct(signal);
      return () => update(change);
    }
    const value = await source.read(signal);
    return () => {
      state.value = { value, problem: undefined };
    };
  }

  /** Changes the value as it is now: it may have changed while `change` was read. */
  function update(change: (value: T) => T): void {
    const { value } = state.peek();
    if (value !== undefined) state.value = { value: change(value), problem: undefined };
  }

  function merge(changes: Changes): void {
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
      void load();
    }, delay);
  }

  /** A read that takes longer than the interval is waited for. */
  function tick(): void {
    if (!document.hidden && !reading) void load();
  }

  return {
    state,
    loadMore() {
      const { value } = state.peek();
      if (value === undefined || readingMore) return;
      readingMore = new AbortController();
      source
        .readMore?.(value, readingMore.signal)
        // A list that is scrolled tries again.
        .then(update, () => undefined)
        .finally(() => {
          readingMore = undefined;
        });
    },
    start() {
      void load();
      const unsubscribe = follow({
        onReset() {
          isOutdated = true;
          void load();
        },
        onChanges(changes) {
          reading?.missed.push(changes);
          merge(changes);
        },
      });
      const interval = source.everyMs === undefined ? undefined : setInterval(tick, source.everyMs);
      return () => {
        clearInterval(interval);
        unsubscribe();
        reading?.controller.abort();
        readingMore?.abort();
        clearTimeout(timer);
        clearTimeout(retry);
        timer = undefined;
      };
    },
  };
}

/** The details of one object, read again after each change that `concerns` it. */
export function useDetail<T>(path: string, concerns: (changes: Changes, value: T) => boolean): LiveState<T> {
  const live = useLive<T>(path, () => ({
    read: (signal) => getJson<T>(path, signal),
    merge: (value, changes) => ({ value, isExact: !concerns(changes, value) }),
  }));
  return live.state.value;
}

/** A value that the stream does not report, read every `everyMs` while the page is visible. */
export function usePolled<T>(path: string, everyMs: number): LiveState<T> {
  const live = useLive<T>(path, () => ({
    read: (signal) => getJson<T>(path, signal),
    merge: (value) => ({ value, isExact: true }),
    everyMs,
  }));
  return live.state.value;
}
