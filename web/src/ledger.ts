import type { LedgerPage } from "../../src/console/wire.ts";
import type { Tone } from "./tones.ts";

/** An event as a table shows it: its id is also its key. */
export type LedgerRow = LedgerPage["events"][number] & { readonly key: string };

/** The loaded part of the ledger, newest first. */
export interface LoadedEvents {
  readonly rows: readonly LedgerRow[];
  /** Asks for the next page; absent at the end. */
  readonly next: string | undefined;
}

/** The list after its newest page was read again. If events between the two are not loaded, only the page remains. */
export function refreshEvents(list: LoadedEvents, page: LoadedEvents): LoadedEvents {
  // A search may find nothing in the newest part of the ledger.
  if (page.rows.length === 0) return list;
  const known = new Set(list.rows.map(({ id }) => id));
  const firstKnown = page.rows.findIndex(({ id }) => known.has(id));
  if (firstKnown === -1) return page;
  if (firstKnown === 0) return list;
  return { rows: [...page.rows.slice(0, firstKnown), ...list.rows], next: list.next };
}

/** The list with the next page appended. */
export function appendEvents(list: LoadedEvents, page: LoadedEvents): LoadedEvents {
  const known = new Set(list.rows.map(({ id }) => id));
  return { rows: [...list.rows, ...page.rows.filter(({ id }) => !known.has(id))], next: page.next };
}

/** The facts with the short ones first. */
export function orderFacts(facts: LedgerRow["facts"]): readonly (readonly [name: string, fact: unknown])[] {
  const entries = Object.entries(facts);
  const isLong = ([, fact]: readonly [string, unknown]) => typeof fact === "object";
  return [...entries.filter((entry) => !isLong(entry)), ...entries.filter(isLong)];
}

/** A fact as text: the checks of a decision one per line, other structured ones as JSON. */
export function factText(fact: unknown): string {
  if (isChecks(fact)) return fact.map(({ answer, asks, evidence }) => `${answer}: ${asks}: ${evidence}`).join("\n");
  return typeof fact === "string" ? fact : JSON.stringify(fact, undefined, 2);
}

type RecordedCheck = Readonly<Record<"answer" | "asks" | "evidence", string>>;

function isChecks(fact: unknown): fact is readonly RecordedCheck[] {
  return Array.isArray(fact) && fact.length > 0 && fact.every((one) => typeof one === "object" && one && "asks" in one);
}

const aboutFacts = [
  "target_resource",
  "remediation_id",
  "task",
  "pause",
  "execution",
  "subject",
  "signal_name",
] as const;

/** The subject of an event: its target, else the incident, task or other object that it names. */
export function aboutText(facts: LedgerRow["facts"]): string {
  const found = aboutFacts.map((name) => facts[name]).find((fact) => typeof fact === "string" && fact !== "");
  return typeof found === "string" ? found : "";
}

/** The state of a chain is `complete`, or a list of its problems. */
export function chainTone(state: string): Tone {
  return state === "complete" ? "good" : "bad";
}
