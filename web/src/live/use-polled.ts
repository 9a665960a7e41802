import { getJson } from "../api.ts";
import { type LiveState, useLive } from "./use-live.ts";

/** A value that the stream does not report, read every `everyMs` while the page is visible. */
export function usePolled<T>(path: string, everyMs: number): LiveState<T> {
  const live = useLive<T>(path, () => ({
    read: (signal) => getJson<T>(path, signal),
    merge: (value) => ({ value, isExact: true }),
    everyMs,
  }));
  return live.state.value;
}
