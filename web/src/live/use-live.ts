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
  let retry: ReturnType<typeof setTimeout> | undefined;
  const corrections = pacedCorrections(() => void load());
  const pages = pageReader(source, update);

  async function load(): Promise<void> {
    reading?.controller.abort();
    clearTimeout(retry);
    const attempt = { controller: new AbortController(), missed: [] as Changes[] };
    reading = attempt;
    const { signal } = attempt.controller;
    try {
      const change = await readChange(source, isOutdated, signal);
      if (signal.aborted) return;
      reading = undefined;
      isOutdated = false;
      update(change);
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

  /** Changes the current value, which may have changed while `change` was read. */
  function update(change: Change<T>): void {
    const value = change(state.peek().value);
    if (value !== undefined) state.value = { value, problem: undefined };
  }

  function merge(changes: Changes): void {
    const { value } = state.peek();
    if (value === undefined) return;
    const merged = source.merge(value, changes);
    if (merged.value !== value) state.value = { value: merged.value, problem: undefined };
    if (!merged.isExact) corrections.schedule();
  }

  /** A read that takes longer than the interval is waited for. */
  function tick(): void {
    if (!document.hidden && !reading) void load();
  }

  return {
    state,
    loadMore: () => pages.read(state.peek().value),
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
        pages.abort();
        corrections.cancel();
        clearTimeout(retry);
      };
    },
  };
}

/** Computes the next value from the current one; undefined is a value that was not read yet. */
type Change<T> = (value: T | undefined) => T | undefined;

/** Reads the value, or its correction if only that is needed. */
async function readChange<T>(source: LiveSource<T>, isOutdated: boolean, signal: AbortSignal): Promise<Change<T>> {
  if (source.correct && !isOutdated) return whenPresent(await source.correct(signal));
  const value = await source.read(signal);
  return () => value;
}

function whenPresent<T>(change: (value: T) => T): Change<T> {
  return (value) => (value === undefined ? undefined : change(value));
}

/** Calls `correct` soon after the first request, and not more often than the pause allows. */
function pacedCorrections(correct: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let correctedAt = Number.NEGATIVE_INFINITY;
  return {
    schedule() {
      if (timer !== undefined) return;
      const delay = Math.max(correction.delayMs, correctedAt + correction.pauseMs - performance.now());
      timer = setTimeout(() => {
        timer = undefined;
        correctedAt = performance.now();
        correct();
      }, delay);
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Reads the next page of a list, one at a time. */
function pageReader<T>(source: LiveSource<T>, update: (change: Change<T>) => void) {
  let reading: AbortController | undefined;
  return {
    read(value: T | undefined) {
      if (value === undefined || reading) return;
      reading = new AbortController();
      source
        .readMore?.(value, reading.signal)
        .then(
          (change) => update(whenPresent(change)),
          // A list that is scrolled tries again.
          () => undefined,
        )
        .finally(() => {
          reading = undefined;
        });
    },
    abort: () => reading?.abort(),
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
