import { isRecord } from "../json/json.ts";
import type { Entry, StoredEntry } from "../object-store.ts";
import type { Api } from "./api.ts";
import { type FieldProblem, forbiddenField, notSupported } from "./problem.ts";
import type { Resource } from "./resource.ts";
import { type Selection, type SelectionQuery, selection } from "./selection.ts";
import { badRequest, expired, invalidOptions, StatusError } from "./status-error.ts";

export interface ListOptions extends SelectionQuery {
  readonly limit?: number;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly sendInitialEvents?: boolean | undefined;
}

export interface Page {
  /** As the resource shows them. */
  readonly items: readonly Entry[];
  readonly revision: number;
  readonly continue: string;
  readonly remaining: number | undefined;
}

/** A list, or one page of it. All pages of a list show the same moment. */
export function listObjects(api: Api, resource: Resource, options: ListOptions): Page {
  const chosen = selection(resource, options);
  checkListOptions(options);
  const token = options.continue ? readContinueToken(options.continue) : undefined;
  // A token of another server, or of this one before its data was restored: its list cannot be continued here.
  if (token && token.revision > api.store.revision) throw historyExpired(token.after);
  const revision = token && token.revision > 0 ? token.revision : (wantedRevision(api, options) ?? api.store.revision);

  const entries = entriesAt(api, resource, chosen, revision, token?.after);
  return page(entries, { chosen, resource, revision, after: token?.after, limit: options.limit ?? 0 });
}

interface Paging {
  readonly chosen: Selection;
  readonly resource: Resource;
  readonly revision: number;
  readonly after: string | undefined;
  readonly limit: number;
}

function page(entries: Iterable<StoredEntry>, { chosen, resource, revision, after, limit }: Paging): Page {
  const items: Entry[] = [];
  let last = "";
  let remaining = 0;
  for (const stored of entries) {
    const key = entrySortKey(stored);
    if (after !== undefined && key <= after) continue;
    const entry = resource.view(stored);
    // Without a selector the namespace is enough, and no object has to be parsed.
    if (chosen.selects ? !chosen.contains(entry.object) : !chosen.includes(stored.key.namespace)) continue;
    if (limit > 0 && items.length >= limit) {
      remaining++;
      // With selectors the remaining count is not reported, so one more entry is enough to detect the next page.
      if (chosen.selects) break;
      continue;
    }
    items.push(entry);
    last = key;
  }
  const more = remaining > 0;
  return {
    items,
    revision,
    continue: more ? continueToken({ revision, after: last }) : "",
    remaining: more && !chosen.selects ? remaining : undefined,
  };
}

function entrySortKey({ key }: StoredEntry): string {
  return sortKey(key.namespace, key.name);
}

/** Sorts by namespace, then by name: no character of either sorts before the separator. */
function sortKey(namespace: string, name: string): string {
  return `${namespace}\u0000${name}`;
}

/** The stored entries at a revision: the newest ones, with later changes undone. */
function entriesAt(
  api: Api,
  resource: Resource,
  chosen: Selection,
  revision: number,
  after?: string,
): Iterable<StoredEntry> {
  const { store } = api;
  if (revision >= store.revision) {
    if (chosen.label) {
      const found = api.labels.find(resource.storedAs, chosen.label.key, chosen.label.value);
      if (found) return found;
    }
    if (!chosen.single) return store.list(resource.storedAs, chosen.namespace);
    const entry = store.get(resource.storedAs, chosen.single.namespace, chosen.single.name);
    return entry ? [entry] : [];
  }
  const undone = new Map<string, StoredEntry | undefined>();
  const history = store.watch(resource.storedAs, revision, ({ key, previous }) => {
    const changed = sortKey(key.namespace, key.name);
    if (!undone.has(changed)) undone.set(changed, previous);
  });
  if (!history) throw historyExpired(after);
  history.stop();
  if (undone.size === 0) return store.list(resource.storedAs, chosen.namespace);

  const then = [...store.list(resource.storedAs, chosen.namespace)].filter((entry) => !undone.has(entrySortKey(entry)));
  for (const entry of undone.values()) if (entry) then.push(entry);
  return then.sort((a, b) => (entrySortKey(a) < entrySortKey(b) ? -1 : 1));
}

function historyExpired(after: string | undefined): StatusError {
  if (after === undefined) return expired("The resourceVersion for the provided list is too old.");
  const message =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
    "deleted between the time the first chunk was returned and now may show up in the list.";
  return expired(message, continueToken({ revision: 0, after }));
}

function wantedRevision({ store }: Api, options: ListOptions): number | undefined {
  const { resourceVersion, resourceVersionMatch } = options;
  if (!resourceVersion || resourceVersion === "0") return undefined;
  const wanted = parseRevision(resourceVersion);
  if (wanted > store.revision) throw tooLarge(wanted, store.revision);
  return resourceVersionMatch === "Exact" ? wanted : undefined;
}

export function parseRevision(text: string): number {
  const revision = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(revision)) return revision;
  throw badRequest(
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

/** A version from the future: of another server, or of this one before its data were replaced. */
export function tooLarge(wanted: number, current: number): StatusError {
  return new StatusError(504, `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}

function checkListOptions(options: ListOptions) {
  const { resourceVersion, resourceVersionMatch: match, sendInitialEvents } = options;
  if (options.continue && resourceVersion) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const field = "resourceVersionMatch";
  const problems: FieldProblem[] = [];
  if (match) {
    if (options.continue) problems.push(forbiddenField(field, `${field} is forbidden when continue is provided`));
    if (!resourceVersion)
      problems.push(forbiddenField(field, `${field} is forbidden unless resourceVersion is provided`));
    if (match !== "Exact" && match !== "NotOlderThan")
      problems.push(notSupported(field, match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && resourceVersion === "0") {
      problems.push(forbiddenField(field, `${field} "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (sendInitialEvents !== undefined) {
    problems.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (problems.length > 0) throw invalidOptions("ListOptions", problems);
}

/** The end of a page: its revision and its last object. Revision 0 means the newest at the time of the next page. */
interface Continuation {
  readonly revision: number;
  readonly after: string;
}

/** The opaque text that a client sends back to get the next page. */
function continueToken({ revision, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ rv: revision, start: after })).toString("base64url");
}

/** Throws 400 for anything that we did not write. */
function readContinueToken(token: string): Continuation {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    const { rv, start } = isRecord(value) ? (value as { rv?: unknown; start?: unknown }) : {};
    if (Number.isSafeInteger(rv) && typeof start === "string") return { revision: rv as number, after: start };
  } catch {
    // Not JSON: refused below like everything else that is not ours.
  }
  throw badRequest("invalid continue token: continue key is not valid");
}
