import type { LedgerEvent } from "../../ledger/index.ts";
import { parseDuration } from "../../time/index.ts";
import { RequestError } from "../projection/projection.ts";
import type { IncidentRow, Storm } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";

/** As many bars as a chart has room for. */
const buckets = 60;
const maxWindowMs = 30 * 24 * 3_600_000;

/** How many signals of the latest period led to incidents and runs: from the ledger, or from incidents if there is none. */
export async function readStorm(window: string, context: ReadContext): Promise<Storm> {
  const windowMs = parseDuration(window);
  if (!windowMs || windowMs > maxWindowMs) throw new RequestError(`window "${window}" must be a duration such as 1h`);
  const nowMs = context.client.serverNowMs();
  const bucketSeconds = Math.max(1, Math.ceil(windowMs / buckets / 1_000));
  const counter = new StormCounter(nowMs, bucketSeconds);
  const ledger = await context.openLedger();
  if (ledger) {
    try {
      for await (const event of ledger.events({ sinceMs: counter.sinceMs })) counter.add(event);
    } finally {
      await ledger.close();
    }
  } else await countRows(context, counter, `${Math.ceil((bucketSeconds * buckets) / 60)}m`);
  return counter.result();
}

async function countRows({ projection }: ReadContext, counter: StormCounter, since: string) {
  let after: string | undefined;
  do {
    const page = await projection.page("incidents", { filter: { since }, limit: 500, ...(after && { after }) });
    for (const row of page.rows as readonly IncidentRow[]) counter.addIncident(row);
    after = page.next;
  } while (after !== undefined);
}

/** Counts signals, incidents and runs in buckets of equal length, the last of which contains the present. */
class StormCounter {
  readonly sinceMs: number;
  readonly #bucketMs: number;
  readonly #signals = new Array<number>(buckets).fill(0);
  readonly #incidents = new Array<number>(buckets).fill(0);
  readonly #runs = new Array<number>(buckets).fill(0);
  /** The incidents that were opened, by name, with the time of each. */
  readonly #opened = new Map<string, string>();
  /** The incidents of which a signal was counted. The count includes the signal that opened the incident. */
  readonly #counted = new Set<string>();
  /** The result of each incident, by its name. */
  readonly #results = new Map<string, IncidentResult>();
  /** The executions of incidents that were counted by their rows: several incidents may share one. */
  readonly #executions = new Set<string>();

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
        return this.#open(incident, at);
      case "signals.counted":
        this.#counted.add(incident);
        return this.#count(this.#signals, at, Number(facts["occurrences"] ?? 0));
      case "execution.started":
        this.#results.set(incident, "run");
        return this.#count(this.#runs, at, 1);
      case "incident.decided":
        return this.#decide(incident, decisionResult(facts));
    }
  }

  /** Counts an incident as its row shows it. */
  addIncident({ key, createdAt, seen, reason, execution }: IncidentRow): void {
    this.#open(key, createdAt);
    this.#counted.add(key);
    this.#count(this.#signals, createdAt, seen);
    if (reason === "RecentlyRemediated") this.#decide(key, "coolingDown");
    else if (reason !== undefined) this.#decide(key, "otherwiseBlocked");
    else if (execution !== undefined && this.#executions.has(execution)) this.#decide(key, "followed");
    else if (execution !== undefined) {
      this.#executions.add(execution);
      this.#results.set(key, "run");
      this.#count(this.#runs, createdAt, 1);
    }
  }

  result(): Storm {
    // The count of an incident is recorded a moment after the incident.
    for (const [incident, at] of this.#opened) {
      if (!this.#counted.has(incident)) this.#count(this.#signals, at, 1);
    }
    const results = [...this.#opened.keys()].map((incident) => this.#results.get(incident));
    const count = (result: IncidentResult | undefined) => results.filter((one) => one === result).length;
    const [signals, incidents] = [sum(this.#signals), sum(this.#incidents)];
    return {
      bucketSeconds: this.#bucketMs / 1_000,
      times: this.#signals.map((_, i) => new Date(this.sinceMs + i * this.#bucketMs).toISOString()),
      signals: this.#signals,
      incidents: this.#incidents,
      runs: this.#runs,
      totals: {
        signals,
        deduplicated: Math.max(0, signals - incidents),
        incidents,
        followed: count("followed"),
        coolingDown: count("coolingDown"),
        otherwiseBlocked: count("otherwiseBlocked"),
        waiting: count(undefined),
        runs: sum(this.#runs),
      },
    };
  }

  #open(incident: string, at: string) {
    if (this.#isInside(at)) this.#opened.set(incident, at);
    this.#count(this.#incidents, at, 1);
  }

  /** The latest decision counts, unless a run was started for the incident. */
  #decide(incident: string, result: IncidentResult | undefined) {
    if (this.#results.get(incident) === "run") return;
    if (result === undefined) this.#results.delete(incident);
    else this.#results.set(incident, result);
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

type IncidentResult = "run" | "followed" | "coolingDown" | "otherwiseBlocked";

function decisionResult(facts: LedgerEvent["facts"]): IncidentResult | undefined {
  if (facts["verdict"] === "follow") return "followed";
  if (facts["verdict"] !== "block") return undefined;
  const isCooldown = facts["reason"] === "RecentlyRemediated" && facts["cause"] !== "backoff";
  return isCooldown ? "coolingDown" : "otherwiseBlocked";
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
