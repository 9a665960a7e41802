import { computed, effect, signal } from "@preact/signals";
import type { Beat, Changes } from "../../../src/console/wire.ts";
import { ApiError, openStream, withQuery } from "../api.ts";
import { loadSession, readableKinds } from "../session.ts";
import { clock, serverNow, setServerTime } from "../time.ts";
import { sleep } from "./reconnect.ts";
import { followStream } from "./stream.ts";

/** Older data is marked as stale, and allows no operation. */
const maxAgeMs = 5_000;

interface Listener {
  readonly onChanges: (changes: Changes) => void;
  /** Changes were lost: read everything again. */
  readonly onReset: () => void;
}

const listeners = new Set<Listener>();

/**
 * The server's time at which the data on the page was last known to be current. Until the first beat it is the time at which
 * the stream was opened, and without a stream it is infinite.
 */
const currentAt = signal(Number.POSITIVE_INFINITY);
const hasBeat = signal(false);

/** The age of what the page shows, in milliseconds. */
export const ageMs = computed(() => clock.value - currentAt.value);

export const isStale = computed(() => ageMs.value > maxAgeMs);

export type Connection = "live" | "connecting" | "stale";

export const connection = computed<Connection>(() => (isStale.value ? "stale" : hasBeat.value ? "live" : "connecting"));

/** Receives changes of rows from the one stream that all lists share. Returns the end of the subscription. */
export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The kinds that the stream is about: a text, which stays the same when the session is read again. */
const kinds = computed(() => readableKinds.value.join(","));

/** Follows changes while there is a session. */
export function startLive(): void {
  effect(() => {
    if (kinds.value === "") return;
    hasBeat.value = false;
    currentAt.value = serverNow();
    const controller = new AbortController();
    void follow(withQuery("/stream", { kinds: kinds.value }), controller.signal);
    return () => controller.abort();
  });
}

function follow(path: string, signal: AbortSignal): Promise<void> {
  return followStream({
    signal,
    open: (lastId) => openStream(path, { lastId, signal }),
    onChanges: (changes) => {
      for (const { onChanges } of listeners) onChanges(changes);
    },
    onReset: () => {
      for (const { onReset } of listeners) onReset();
    },
    onBeat,
    onError: (error) => {
      // The session may have ended.
      if (error instanceof ApiError && error.status === 401) void loadSession();
    },
    sleep,
  });
}

function onBeat(beat: Beat): void {
  setServerTime(beat.serverTime);
  hasBeat.value = true;
  // The age counts from now by the local clock: the latency of the network does not matter. A server that has just started
  // has not checked yet whether its data is current, and sends a time in the distant past.
  const age = Math.max(0, Date.parse(beat.serverTime) - Date.parse(beat.currentAt));
  currentAt.value = Math.max(currentAt.peek(), serverNow() - age);
}
