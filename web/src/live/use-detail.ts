import type { Changes } from "../../../src/console/wire.ts";
import { getJson } from "../api.ts";
import { type LiveState, useLive } from "./use-live.ts";

/** The details of one object, read again after each change that `concerns` it. */
export function useDetail<T>(path: string, concerns: (changes: Changes, value: T) => boolean): LiveState<T> {
  const live = useLive<T>(path, () => ({
    read: (signal) => getJson<T>(path, signal),
    merge: (value, changes) => ({ value, isExact: !concerns(changes, value) }),
  }));
  return live.state.value;
}
