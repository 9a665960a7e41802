import type { KubeObject } from "../../kube/index.ts";
import type { Change, Entry } from "../object-store.ts";
import { type Api, sealObject } from "./api.ts";
import { parseRevision, tooLarge } from "./list.ts";
import { type FieldProblem, forbiddenField, notSupported } from "./problem.ts";
import type { Resource } from "./resource.ts";
import { type Selection, type SelectionQuery, selection } from "./selection.ts";
import { expired, invalidOptions } from "./status-error.ts";

export interface WatchOptions extends SelectionQuery {
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly continue?: string | undefined;
}

/** The interval of bookmarks, which show that a watch is alive and its position when there are no events. */
export const bookmarkEveryMs = 60_000;

/** An event of a watch. `entry` is in the form of the resource. */
export interface Event {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly entry: Entry;
}

/** A running watch. Later events are passed to its callback. */
export interface Watch {
  /** The revision up to which `initial` is complete. */
  readonly revision: number;
  readonly initial: readonly Entry[];
  stop(): void;
}

/**
 * Calls `onEvent` with every event after the position in the options. Throws 410 when the history does not reach back that far.
 * `initial` contains the first events; `onEvent` is not called before this returns.
 */
export function watchObjects(
  api: Api,
  resource: Resource,
  options: WatchOptions,
  onEvent: (event: Event) => void,
): Watch {
  checkWatchOptions(options);
  const chosen = selection(resource, options);
  const { resourceVersion } = options;
  const from = !resourceVersion || resourceVersion === "0" ? undefined : parseRevision(resourceVersion);
  const wantsInitial = options.sendInitialEvents ?? from === undefined;
  // A watch without a list may begin at a later version, and sends nothing until then; a list must not be older than asked for.
  if (wantsInitial && from !== undefined && from > api.store.revision) throw tooLarge(from, api.store.revision);
  const revision = wantsInitial ? api.store.revision : (startRevision(from) ?? api.store.revision);
  const initial = wantsInitial ? initialEntries(api, resource, chosen) : [];

  const early: Event[] = [];
  let deliver: (event: Event) => void = (event) => early.push(event);
  const watching = api.store.watch(resource.storedAs, Math.min(revision, api.store.revision), (change) => {
    if (change.entry.revision <= revision) return;
    const event = toEvent(change, resource, chosen);
    if (event) deliver(event);
  });
  if (!watching) throw expired(`too old resource version: ${revision} (${api.store.compactedRevision})`);
  queueMicrotask(() => {
    deliver = onEvent;
    for (const event of early.splice(0)) onEvent(event);
  });
  return { revision, initial, stop: () => watching.stop() };
}

/**
 * A store that counts from 1 never comes to 2^32, and one that began by the clock never was below 2^43. What lies between
 * belongs to no store of ours, old or new: it is waited for like any version that has not come yet.
 */
function startRevision(from: number | undefined): number | undefined {
  return from !== undefined && from >= 2 ** 32 && from < 2 ** 43 ? Number.MAX_SAFE_INTEGER : from;
}

function initialEntries({ store }: Api, resource: Resource, chosen: Selection): Entry[] {
  const initial: Entry[] = [];
  for (const stored of store.list(resource.storedAs, chosen.namespace)) {
    const entry = resource.view(stored);
    if (chosen.contains(entry.object)) initial.push(entry);
  }
  return initial;
}

function toEvent(change: Change, resource: Resource, chosen: Selection): Event | undefined {
  const before = change.previous && resource.view(change.previous);
  const was = before !== undefined && chosen.contains(before.object);
  if (change.do === "put") {
    const entry = resource.view(change.entry);
    if (chosen.contains(entry.object)) return { type: was ? "MODIFIED" : "ADDED", entry };
    // Leaving the selection is a deletion to this watch: the object as it last matched, at the version of the change.
    return was ? { type: "DELETED", entry: atRevision(before.object, change.entry.revision) } : undefined;
  }
  return was ? { type: "DELETED", entry: resource.view(change.entry) } : undefined;
}

function atRevision(object: KubeObject, revision: number): Entry {
  return { ...sealObject({ ...object }, revision), revision };
}

function checkWatchOptions({ resourceVersionMatch: match, sendInitialEvents, continue: token }: WatchOptions) {
  const field = "resourceVersionMatch";
  const problems: FieldProblem[] = [];
  if (sendInitialEvents !== undefined) {
    if (match !== "NotOlderThan") {
      problems.push(forbiddenField(field, `sendInitialEvents requires setting ${field} to NotOlderThan`));
    }
    if (match && match !== "NotOlderThan") problems.push(notSupported(field, match, ["NotOlderThan"]));
  } else if (match) {
    problems.push(forbiddenField(field, `${field} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (token) problems.push(forbiddenField(field, `${field} is forbidden when continue is provided`));
  if (problems.length > 0) throw invalidOptions("ListOptions", problems);
}
