import type { EventFilter, LedgerEvent } from "../../ledger/index.ts";
import { parseDuration } from "../../time/index.ts";
import { RequestError } from "../projection/index.ts";
import type { IncidentRow, Storm } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";

/** A chart has about as many points as it has room for. */
const buckets = 60;
const maxWindowMs = 30 * 24 * 3_600_000;

/** What became of the signals of the latest time, from the ledger; from incidents where the ledger cannot be read. */
export async function readStorm(window: string, context: ReadContext): Promise<Storm> {
  const windowMs = parseDuration(window);
  if (!windowMs || windowMs > maxWindowMs) throw new RequestError(`window "${window}" must be a duration such as 1h`);
  const nowMs = context.client.serverNowMs();
  const bucketSeconds = Math.max(1, Math.ceil(windowMs / buckets / 1_000));
  const counter = new StormCounter(nowMs, bucketSeconds);
  const ledger = await context.openLedger();
  if (ledger) {
    try {
      await countEvents(ledger.events({ sinceMs: counter.sinceMs } satisfies EventFilter), counter);
    } finally {
      await ledger.close();
    }
  } else await countRows(context, counter, `${Math.ceil((bucketSeconds * buckets) / 60)}m`);
  return counter.result();
}

async function countEvents(events: AsyncIterable<LedgerEvent>, counter: StormCounter) {
  for await (const event of events) counter.add(event);
}

async function countRows({ projection }: ReadContext, counter: StormCounter, since: string) {
  let after: string | undefined;
  do {
    const page = await projection.page("incidents", { filter: { since }, limit: 500, ...(after && { after }) });
    for (const row of page.rows as readonly IncidentRow[]) counter.addIncident(row);
    after = page.next;
  } while (after !== undefined);
}

/** Counts what became of signals, in buckets of equal length that end now. */
class StormCounter {
  readonly sinceMs: number;
  readonly #bucketMs: number;
  readonly #signals = new Array<number>(buckets).fill(0);
  readonly #incidents = new Array<number>(buckets).fill(0);
  readonly #runs = new Array<number>(buckets).fill(0);
  #deduplicated = 0;
  /** By incident: the decisions about it, each counted once. */
  readonly #decisions = new Map<string, Set<string>>();

  constructor(nowMs: number, bucketSeconds: number) {
    this.#bucketMs = bucketSeconds * 1_000;
    // Whole buckets, so that the same moment is in the same bucket on every read.
    const end = Math.floor(nowMs / this.#bucketMs + 1) * this.#bucketMs;
    this.sinceMs = end - buckets * this.#bucketMs;
  }

  add({ type, at, facts }: LedgerEvent): void {
    const incident = String(facts["remediation_id"] ?? "");
    switch (type) {
      case "incident.created":
        this.#count(this.#signals, at, 1);
        return this.#count(this.#incidents, at, 1);
      case "signals.counted": {
        const occurrences = Number(facts["occurrences"] ?? 0);
        this.#deduplicated += this.#isInside(at) ? occurrences : 0;
        return this.#count(this.#signals, at, occurrences);
      }
      case "execution.started":
        return this.#count(this.#runs, at, 1);
      case "incident.decided":
        return this.#decide(incident, decisionOf(facts));
    }
  }

  /** Counts an incident as its row shows it. */
  addIncident({ key, createdAt, seen, reason, execution, phase }: IncidentRow): void {
    this.#count(this.#signals, createdAt, seen);
    this.#count(this.#incidents, createdAt, 1);
    this.#deduplicated += this.#isInside(createdAt) ? seen - 1 : 0;
    if (reason === "RecentlyRemediated") this.#decide(key, "coolingDown");
    else if (reason !== undefined) this.#decide(key, "otherwiseBlocked");
    else if (execution !== undefined && phase !== "Blocked") this.#count(this.#runs, createdAt, 1);
  }

  result(): Storm {
    const all = [...this.#decisions.values()];
    const count = (what: Decided) => all.filter((decisions) => decisions.has(what)).length;
    return {
      bucketSeconds: this.#bucketMs / 1_000,
      times: this.#signals.map((_, i) => new Date(this.sinceMs + i * this.#bucketMs).toISOString()),
      signals: this.#signals,
      incidents: this.#incidents,
      runs: this.#runs,
      totals: {
        signals: sum(this.#signals),
        deduplicated: this.#deduplicated,
        incidents: sum(this.#incidents),
        followed: count("followed"),
        coolingDown: count("coolingDown"),
        otherwiseBlocked: count("otherwiseBlocked"),
        runs: sum(this.#runs),
      },
    };
  }

  #decide(incident: string, what: Decided | undefined) {
    if (what === undefined) return;
    const decisions = this.#decisions.get(incident) ?? new Set();
    this.#decisions.set(incident, decisions.add(what));
  }

  #count(series: number[], at: string, count: number) {
    const i = this.#bucketOf(at);
    if (series[i] !== undefined) series[i] += count;
  }

  #isInside(at: string): boolean {
    return this.#signals[this.#bucketOf(at)] !== undefined;
  }

  #bucketOf(at: string): number {
    return Math.floor((Date.parse(at) - this.sinceMs) / this.#bucketMs);
  }
}

type Decided = "followed" | "coolingDown" | "otherwiseBlocked";

function decisionOf(facts: LedgerEvent["facts"]): Decided | undefined {
  if (facts["verdict"] === "follow") return "followed";
  if (facts["verdict"] !== "block") return undefined;
  const isCooldown = facts["reason"] === "RecentlyRemediated" && facts["cause"] !== "backoff";
  return isCooldown ? "coolingDown" : "otherwiseBlocked";
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
