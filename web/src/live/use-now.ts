import type { Now } from "../../../src/console/wire.ts";
import { getJson } from "../api.ts";
import { mergeNow } from "./merge.ts";
import { type LiveState, useLive } from "./use-live.ts";

/** The server sends no more rows of a lane. */
const maxRows = 50;

/** The lanes of the page Now, kept current by the stream. */
export function useNow(): LiveState<Now> {
  const live = useLive<Now>("now", () => ({
    read: (signal) => getJson<Now>("/now", signal),
    merge: (now, changes) => mergeNow(now, changes, maxRows),
  }));
  return live.state.value;
}
