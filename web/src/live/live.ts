import { computed, effect, signal } from "@preact/signals";
import type { Beat, Changes } from "../../../src/console/wire.ts";
import { ApiError, openStream, withQuery } from "../api.ts";
import { loadSession, sessionState } from "../session.ts";
import { clock, serverNow, setServerTime } from "../time.ts";
import { sleep } from "./reconnect.ts";
import { followStream } from "./stream.ts";

/** What is shown may be this old; older data is marked, and allows no operation. */
const maxAgeMs = 5_000;

interface Listener {
  readonly onChanges: (changes: Changes) => void;
  /** Changes were lost: read everything again. */
  readonly onReset: () => void;
}

const listeners = new Set<Listener>();

/** The server's time at which the data on the page was last known to be current. */
const currentAt = signal<number | undefined>(undefined);

/** The age of what the page shows, in milliseconds; undefined before the first beat. */
export const ageMs = computed(() => (currentAt.value === undefined ? undefined : clock.value - currentAt.value));

export const isStale = computed(() => ageMs.value !== undefined && ageMs.value > maxAgeMs);

/** Receives changes of rows from the one stream that all lists share. Returns the end of the subscription. */
export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The kinds that the caller may read, as the stream takes them; empty without a session. */
const kinds = computed(() =>
  sessionState.value.kind === "signed-in" ? sessionState.value.session.kinds.join(",") : "",
);

/** Follows changes as long as there is a session. */
export function startLive(): void {
  effect(() => {
    if (kinds.value === "") return;
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
  // The age counts from now on our clock: the two clocks never differ by what the network takes.
  currentAt.value = serverNow() - Math.max(0, Date.parse(beat.serverTime) - Date.parse(beat.currentAt));
}
