import { ledgerEventTypes } from "./event-types/index.ts";
import { type Fact, LedgerError, type LedgerEvent } from "./ledger.ts";

/** Maximum size of an event's text. Facts are names, reasons and numbers; larger data belongs elsewhere, with a reference here. */
export const largestEventBytes = 256 * 1024;

/**
 * The members of an event as JSON: `"id":…,"type":…,"at":…,"facts":{…}`, without spaces, names of facts in the order of
 * their UTF-16 code units at every depth, strings and numbers as JSON.stringify writes them. One event has one text, so
 * that a hash over it can be computed again from a database that keeps members in an order of its own.
 *
 * Throws TypeError for an invalid event, and LedgerError `too-large`.
 */
export function eventText({ id, type, at, facts }: LedgerEvent): string {
  if (typeof id !== "string" || id === "") throw new TypeError("an event needs an id");
  if (!ledgerEventTypes.includes(type)) throw new TypeError(`event ${id} has an unknown type: ${type}`);
  if (Number.isNaN(Date.parse(at))) throw new TypeError(`event ${id} has no time: ${at}`);

  const text = `"id":${JSON.stringify(id)},"type":"${type}","at":${JSON.stringify(at)},"facts":${factText(facts, id)}`;
  if (Buffer.byteLength(text) <= largestEventBytes) return text;
  throw new LedgerError("too-large", `event ${id.slice(0, 200)} is larger than ${largestEventBytes} bytes`);
}

function factText(fact: Fact, id: string): string {
  if (typeof fact === "string" || typeof fact === "boolean") return JSON.stringify(fact);
  if (typeof fact === "number" && Number.isFinite(fact)) return JSON.stringify(fact);
  if (Array.isArray(fact)) return `[${fact.map((item) => factText(item, id)).join()}]`;
  // Silently left out or written as null, it would become a different fact.
  if (typeof fact !== "object" || fact === null) throw new TypeError(`event ${id} has a fact that is ${String(fact)}`);

  const members = Object.entries(fact).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${factText(value, id)}`).join()}}`;
}
