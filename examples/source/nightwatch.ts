import {
  explainReadings,
  type PayloadReading,
  type SignalReader,
  type SignalReading,
  signalTime,
} from "../../src/resources/index.ts";

/** Reads the payloads of "nightwatch" by code: the same signals as the mapping in interlock.yaml. */
export const nightwatch: SignalReader = {
  source: "nightwatch",
  read: readChecks,
  explain: (body, receivedAt) => explainReadings(readChecks(body, receivedAt), fieldTable),
};

/** For a dry run: which part of the payload each field of the signal is read from. */
const fieldTable = [
  ["name", "check"],
  ["subject", "host"],
  ["status", "state"],
  ["series", "id"],
  ["firingAt", "since, else the time of receipt"],
] as const;

/** A reader never throws: a payload that is not understood is reported to its sender, with all problems at once. */
function readChecks(body: unknown, receivedAt: string): PayloadReading {
  const { checks, site } = toRecord(body);
  if (!Array.isArray(checks)) return { kind: "problems", problems: ['the body has no list "checks"'] };
  const labels: Record<string, string> = typeof site === "string" ? { site } : {};
  const readings = checks.map((item, i) => readCheck(toRecord(item), { labels, receivedAt, path: `checks[${i}]` }));
  return { kind: "signals", readings, truncated: 0 };
}

interface CheckContext {
  readonly labels: Readonly<Record<string, string>>;
  readonly receivedAt: string;
  readonly path: string;
}

function readCheck(item: Readonly<Record<string, unknown>>, context: CheckContext): SignalReading {
  const { check, host, id, state, since } = item;
  const { labels, receivedAt, path } = context;
  if (state !== "critical" && state !== "ok") return { kind: "ignored", because: `${path}.state reports no problem` };
  const problems = Object.entries({ check, host, id })
    .filter(([, value]) => !isName(value))
    .map(([field]) => `${path}.${field} is missing or longer than 128 characters`);
  if (!isName(check) || !isName(host) || !isName(id)) return { kind: "problems", problems };
  return {
    kind: "signal",
    signal: {
      // The end of a series closes the incident that its begin opened, so both have the same series, name and subject.
      status: state === "ok" ? "resolved" : "firing",
      source: "nightwatch",
      name: check,
      severity: "critical",
      subject: { kind: "node", name: host },
      series: id,
      labels,
      annotations: {},
      firingAt: signalTime(since) ?? receivedAt,
      payload: item,
    },
  };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 128;
}
