import { type Lane, laneOf, lanes, laneTitles, type RowKind, rowFacts } from "../../../console/rows/index.ts";
import { type KubeObject, leases, type ResourceType } from "../../../kube/index.ts";
import { isLasting } from "../../../policy/index.ts";
import {
  automationPauses,
  type ReadHeartbeat,
  type RemediationRequest,
  remediationRequests,
  workflowExecutions,
} from "../../../resources/index.ts";
import {
  age,
  findNotes,
  findProblems,
  isReadable,
  openOnes,
  plural,
  requiredStages,
  type StageReport,
  type StatusFacts,
  type StatusFinding,
  type StatusLine,
  type StatusSnapshot,
} from "./findings.ts";

export interface StatusReport extends Pick<StatusFacts, "stages" | "ledger" | "signals"> {
  readonly isHealthy: boolean;
  /** Work does not get done, or not as it was configured. */
  readonly problems: readonly StatusFinding[];
  /** Waits for an operator, or is unusual, while everything works. */
  readonly notes: readonly StatusFinding[];
  /** One line each, in this order. */
  readonly lines: Readonly<Record<StatusLine, string>>;
  readonly incidents: Readonly<Record<string, number>>;
  /** Open incidents by what they wait for, as the console groups them. */
  readonly lanes: Readonly<Partial<Record<Lane, number>>>;
  readonly executions: Readonly<Record<string, number>>;
  readonly locks: { readonly held: number; readonly waiting: number };
  readonly pauses: readonly string[];
}

/** Finds out whether an installation is healthy, and what to do if it is not. */
export function assess(snapshot: StatusSnapshot): StatusReport {
  const alive = snapshot.heartbeats.filter(({ isAlive }) => isAlive);
  const stages = snapshot.heartbeats.flatMap(stageReports);
  const incidents = countPhases("incidents", snapshot.incidents);
  const openLanes = countLanes(openOnes("incidents", snapshot.incidents));
  const executions = countPhases("executions", snapshot.executions);
  const ledger = {
    events: sum(alive.map((process) => process.ledger.events)),
    seconds: Math.max(0, ...alive.map((process) => process.ledger.seconds)),
  };
  const locks = {
    held: sum(alive.map((process) => process.locks.held)),
    waiting: sum(alive.map((process) => process.locks.waiting)),
  };
  const signals = countSignals(alive);
  const pauses = snapshot.pauses.filter((pause) => isLasting(pause, snapshot.nowMs));
  const facts = { snapshot, stages, alive, ledger, signals, pauses };
  const problems = findProblems(facts);
  const ifReadable = (type: ResourceType, text: string) => (isReadable(snapshot, type) ? text : "unknown");
  return {
    isHealthy: problems.length === 0,
    problems,
    notes: findNotes(facts),
    lines: {
      stages: ifReadable(leases, describeStages(stages)),
      incidents: ifReadable(remediationRequests, describeLanes(openLanes)),
      executions: ifReadable(workflowExecutions, describeCounts(executions, "none running or queued")),
      watches: describeProblems(problems, "watches", alive.length === 0 ? "unknown" : "up to date"),
      ledger: describeLedger(ledger, alive.length),
      locks: alive.length === 0 ? "unknown" : `${locks.held} held, ${locks.waiting} waiting`,
      rules: describeProblems(problems, "rules", alive.length === 0 ? "unknown" : "rules and workflows are valid"),
      signals: describeSignals(signals, alive.length),
      pauses: ifReadable(automationPauses, pauses.length === 0 ? "none" : String(pauses.length)),
    },
    stages,
    incidents,
    lanes: openLanes,
    executions,
    ledger,
    locks,
    signals,
    pauses: pauses.map(({ metadata }) => metadata.name ?? ""),
  };
}

function stageReports({ stages, process, version, isAlive, ageMs }: ReadHeartbeat): readonly StageReport[] {
  return stages.map(({ name, isReady }) => ({
    ...{ name, process, version, isAlive },
    isReady: isAlive && isReady,
    heartbeatAgeMs: ageMs,
  }));
}

function countSignals(alive: readonly ReadHeartbeat[]): StatusFacts["signals"] {
  const counts = alive.flatMap(({ signals }) => signals ?? []);
  return {
    refused: sum(counts.map(({ refused }) => refused)),
    ignored: sum(counts.map(({ ignored }) => ignored)),
    rejectedRequests: sum(counts.map(({ rejectedRequests }) => rejectedRequests)),
  };
}

function describeStages(stages: readonly StageReport[]): string {
  const names = [...new Set([...requiredStages, ...stages.map(({ name }) => name)])];
  return names
    .map((name) => {
      const ready = stages.filter((stage) => stage.name === name && stage.isReady);
      return ready.length === 1 ? name : `${name} ×${ready.length}`;
    })
    .join(", ");
}

function describeCounts(counts: Readonly<Record<string, number>>, none: string): string {
  const entries = Object.entries(counts);
  return entries.length === 0 ? none : entries.map(([phase, count]) => `${count} ${phase}`).join(", ");
}

function describeLanes(counts: StatusReport["lanes"]): string {
  const present = lanes.filter((lane) => counts[lane] !== undefined);
  return present.map((lane) => `${counts[lane]} ${laneTitles[lane]}`).join(", ") || "none open";
}

function describeProblems(problems: readonly StatusFinding[], line: StatusLine, none: string): string {
  const count = problems.filter(({ about }) => about === line).length;
  return count === 0 ? none : plural(count, "problem");
}

function describeLedger({ events, seconds }: StatusFacts["ledger"], processes: number): string {
  if (processes === 0) return "unknown";
  return events === 0
    ? "the database has every event"
    : `${plural(events, "event")} behind, by ${age(seconds * 1_000)}`;
}

function describeSignals({ refused, ignored, rejectedRequests }: StatusFacts["signals"], processes: number): string {
  if (processes === 0) return "unknown";
  return `${refused} refused, ${ignored} ignored, ${rejectedRequests} requests rejected since the gateway started`;
}

/** Of those about which there is still something to do. */
function countPhases(kind: RowKind, objects: readonly KubeObject[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const object of openOnes(kind, objects)) {
    const { phase } = rowFacts(kind, object);
    counts[phase] = (counts[phase] ?? 0) + 1;
  }
  return counts;
}

function countLanes(incidents: readonly RemediationRequest[]): StatusReport["lanes"] {
  const counts: Partial<Record<Lane, number>> = {};
  for (const incident of incidents) {
    const lane = laneOf(incident);
    counts[lane] = (counts[lane] ?? 0) + 1;
  }
  return counts;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
