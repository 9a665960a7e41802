import { isClosed } from "../../../console/rows/index.ts";
import type { KubeObject } from "../../../kube/index.ts";
import { isLasting } from "../../../policy/index.ts";
import {
  type AutomationPause,
  type CodingTask,
  describeStall,
  findStall,
  isDigested,
  isUnfinished,
  type NotificationRequest,
  notificationRequests,
  type ReadHeartbeat,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type WorkflowExecution,
} from "../../../resources/index.ts";
import { formatDuration } from "../../../time/index.ts";

/** Everything that is known about the health of an installation. */
export interface StatusSnapshot {
  readonly nowMs: number;
  readonly heartbeats: readonly ReadHeartbeat[];
  readonly incidents: readonly RemediationRequest[];
  readonly executions: readonly WorkflowExecution[];
  readonly tasks: readonly CodingTask[];
  readonly approvals: readonly RemediationApprovalRequest[];
  readonly notices: readonly NotificationRequest[];
  readonly pauses: readonly AutomationPause[];
  /** How long notices wait for others, to be delivered with them. */
  readonly digestWindowMs: number;
  /** Why parts of it could not be read. */
  readonly unreadable: readonly string[];
}

/** Something that an operator should do, or may want to know. */
export interface StatusFinding {
  readonly about: StatusLine;
  readonly message: string;
  /** What to do. */
  readonly next: string;
}

export interface StatusReport {
  readonly isHealthy: boolean;
  /** Work does not get done, or not as it was configured. */
  readonly problems: readonly StatusFinding[];
  /** Waits for an operator, or is unusual, while everything works. */
  readonly notes: readonly StatusFinding[];
  /** One line each, in this order. */
  readonly lines: Readonly<Record<StatusLine, string>>;
  readonly stages: readonly StageReport[];
  readonly incidents: Readonly<Record<string, number>>;
  readonly executions: Readonly<Record<string, number>>;
  readonly ledger: { readonly events: number; readonly seconds: number };
  readonly locks: { readonly held: number; readonly waiting: number };
  readonly signals: { readonly refused: number; readonly ignored: number; readonly rejectedRequests: number };
  readonly pauses: readonly string[];
}

export interface StageReport {
  readonly name: string;
  readonly process: string;
  readonly version: string;
  readonly isAlive: boolean;
  readonly isReady: boolean;
  readonly heartbeatAgeMs: number;
}

export type StatusLine =
  | "stages"
  | "incidents"
  | "executions"
  | "watches"
  | "ledger"
  | "locks"
  | "rules"
  | "signals"
  | "pauses";

/** Without one of these, remediation does not work. An agent is only needed where there are coding tasks. */
const requiredStages = ["gateway", "orchestrator", "executor", "notify"] as const;

/** A shorter lag, wait or delay is normal under load. */
const slowAfterMs = 60_000;

/** A process that vanished longer ago than this, and was replaced, is not mentioned any more. */
const forgottenAfterMs = 3_600_000;

/** Finds out whether an installation is healthy, and what to do if it is not. */
export function assess(snapshot: StatusSnapshot): StatusReport {
  const alive = snapshot.heartbeats.filter(({ isAlive }) => isAlive);
  const stages = snapshot.heartbeats.flatMap(stageReports);
  const incidents = countPhases(snapshot.incidents.filter(isOpen));
  const executions = countPhases(snapshot.executions.filter(isUnfinished));
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
  const problems = [
    ...snapshot.unreadable.map((message) => finding("stages", message, "ask for this right, or use another context")),
    ...stageProblems(stages, snapshot),
    ...reportedProblems(alive),
    ...workProblems(snapshot),
    ...ledgerProblems(ledger),
    ...lockProblems(alive),
  ];
  return {
    isHealthy: problems.length === 0,
    problems,
    notes: [...stageNotes(stages), ...workNotes(snapshot), ...signalNotes(signals), ...pauseNotes(pauses)],
    lines: {
      stages: describeStages(stages),
      incidents: describeCounts(incidents, "none open"),
      executions: describeCounts(executions, "none running or queued"),
      watches: describeProblems(problems, "watches", alive.length === 0 ? "unknown" : "up to date"),
      ledger: describeLedger(ledger, alive.length),
      locks: `${locks.held} held, ${locks.waiting} waiting`,
      rules: describeProblems(problems, "rules", alive.length === 0 ? "unknown" : "rules and workflows are valid"),
      signals: `${signals.refused} refused, ${signals.ignored} ignored, ${signals.rejectedRequests} requests rejected since the gateway started`,
      pauses: pauses.length === 0 ? "none" : String(pauses.length),
    },
    stages,
    incidents,
    executions,
    ledger,
    locks,
    signals,
    pauses: pauses.map(({ metadata }) => metadata.name ?? ""),
  };
}

function finding(about: StatusLine, message: string, next: string): StatusFinding {
  return { about, message, next };
}

function stageReports({ stages, process, version, isAlive, ageMs }: ReadHeartbeat): readonly StageReport[] {
  return stages.map(({ name, isReady }) => ({
    ...{ name, process, version, isAlive },
    isReady: isAlive && isReady,
    heartbeatAgeMs: ageMs,
  }));
}

function stageProblems(stages: readonly StageReport[], snapshot: StatusSnapshot): readonly StatusFinding[] {
  const required = snapshot.tasks.some(isOpenTask) ? [...requiredStages, "agent"] : requiredStages;
  const missing = required
    .filter((name) => !stages.some((stage) => stage.name === name && stage.isAlive))
    .map((name) => missingStage(name, stages));
  const notReady = snapshot.heartbeats
    .filter(({ isAlive }) => isAlive)
    .flatMap(({ process, stages: own }) =>
      own
        .filter(({ isReady, problem }) => !isReady || problem !== undefined)
        .map(({ name, problem = "not ready" }) =>
          finding("stages", `${name} at ${process}: ${problem}`, `read the log of ${name} at ${process}`),
        ),
    );
  return [...missing, ...notReady];
}

function missingStage(name: string, stages: readonly StageReport[]): StatusFinding {
  const [last] = stages
    .filter((stage) => stage.name === name)
    .sort((one, other) => one.heartbeatAgeMs - other.heartbeatAgeMs);
  const since = last ? `: the last heartbeat, of ${last.process}, is ${age(last.heartbeatAgeMs)} old` : "";
  const next = `start it: interlock up, interlock ${name}, or in a cluster kubectl get pods -l app.kubernetes.io/component=${name} -A`;
  return finding("stages", `no ${name} is running${since}`, next);
}

function stageNotes(stages: readonly StageReport[]): readonly StatusFinding[] {
  const isReplaced = ({ name }: StageReport) => stages.some((other) => other.name === name && other.isAlive);
  const vanished = stages
    .filter((stage) => !stage.isAlive && stage.heartbeatAgeMs < forgottenAfterMs && isReplaced(stage))
    .map(({ name, process, heartbeatAgeMs }) =>
      finding(
        "stages",
        `${name} at ${process} vanished or hangs: its last heartbeat is ${age(heartbeatAgeMs)} old`,
        `check ${process}; others do its work`,
      ),
    );
  const versions = [...new Set(stages.filter(({ isAlive }) => isAlive).map(({ version }) => version))];
  if (versions.length <= 1) return vanished;
  const next = "finish the upgrade; this is normal while it is under way";
  return [...vanished, finding("stages", `processes of different versions run: ${versions.join(", ")}`, next)];
}

/** Problems that the processes report themselves, each once. */
function reportedProblems(alive: readonly ReadHeartbeat[]): readonly StatusFinding[] {
  const found = new Map<string, StatusFinding>();
  for (const { problems, process } of alive) {
    for (const { area, message } of problems) {
      const about = area === "workflows" ? "rules" : area;
      const text = about === "rules" ? message : `${process}: ${message}`;
      found.set(text, finding(about, text, nextSteps[area] ?? "read the log"));
    }
  }
  return [...found.values()];
}

const nextSteps: Readonly<Record<string, string>> = {
  rules: "correct the file, then: interlock policy test; the earlier rules stay in force until then",
  workflows: "correct the file, see docs/workflows.md; it is read again by itself",
  signals: "senders repeat their signals; see the reason: interlock get notices, or the log of the gateway",
  watches: "if a right is missing, apply the roles of: interlock manifests; otherwise check the API server",
};

/** Work that fails, or that no process has begun although it should have. */
function workProblems(snapshot: StatusSnapshot): readonly StatusFinding[] {
  const { incidents, executions, tasks, notices } = snapshot;
  const why = (name: string) => `interlock why ${name}`;
  const list = () => "interlock get notices";
  const kinds = [
    { about: "incidents", noun: "incident", stage: "orchestrator", next: why, objects: incidents.filter(isOpen) },
    { about: "executions", noun: "execution", stage: "executor", next: why, objects: executions.filter(isUnfinished) },
    { about: "executions", noun: "coding task", stage: "agent", next: why, objects: tasks.filter(isOpenTask) },
    { about: "stages", noun: "notice", stage: "notify", next: list, objects: notices.filter(isUndelivered) },
  ] as const;
  return kinds.flatMap(({ about, noun, stage, next, objects }) => {
    const stalled = byFirst<KubeObject>(objects, (object) => findStall(object)?.sinceMs);
    const unseen = byFirst<KubeObject>(objects, (object) => waitingSince(object, snapshot));
    return [
      ...describeFirst(stalled, (first, count) => {
        const stall = findStall(first);
        const message = `${plural(count, noun)} stalled, the first is ${first.metadata.name}: ${stall ? describeStall(stall) : ""}`;
        return finding(about, message, next(first.metadata.name ?? ""));
      }),
      ...describeFirst(unseen, (first, count) => {
        const since = age(snapshot.nowMs - Date.parse(first.metadata.creationTimestamp ?? ""));
        const message = `${plural(count, noun)} not taken up by the ${stage}, the first is ${first.metadata.name}, for ${since}`;
        return finding(about, message, `check that the ${stage} runs, and read its log`);
      }),
    ];
  });
}

/** Since when an object without a status waits, if that is too long. */
function waitingSince(object: KubeObject, { nowMs, digestWindowMs }: StatusSnapshot): number | undefined {
  const createdMs = Date.parse(object.metadata.creationTimestamp ?? "");
  const isCollected = isNotice(object) && isDigested(object);
  const patienceMs = isCollected ? digestWindowMs + slowAfterMs : slowAfterMs;
  const isNew = (object as { readonly status?: { readonly phase?: string } }).status?.phase === undefined;
  return isNew && nowMs - createdMs >= patienceMs ? createdMs : undefined;
}

function isNotice(object: KubeObject): object is NotificationRequest {
  return object.kind === notificationRequests.kind;
}

function workNotes({ incidents, approvals }: StatusSnapshot): readonly StatusFinding[] {
  const blocked = incidents.filter(({ status }) => status?.phase === "Blocked").length;
  const open = approvals.filter(({ status }) => status?.decision === undefined).length;
  return [
    ...(blocked > 0 ? [finding("incidents", `${plural(blocked, "incident")} blocked`, "interlock get incidents")] : []),
    ...(open > 0 ? [finding("incidents", `${plural(open, "approval")} waiting`, "interlock get approvals")] : []),
  ];
}

function ledgerProblems({ events, seconds }: StatusReport["ledger"]): readonly StatusFinding[] {
  if (seconds * 1_000 < slowAfterMs) return [];
  const message = `the database lacks ${plural(events, "event")}, the oldest for ${age(seconds * 1_000)}`;
  return [finding("ledger", message, "bring the database back; the journals keep the events until then")];
}

function lockProblems(alive: readonly ReadHeartbeat[]): readonly StatusFinding[] {
  return alive
    .filter(({ locks }) => locks.oldestWaitSeconds * 1_000 >= slowAfterMs)
    .map(({ process, locks }) => {
      const message = `${process} has waited ${age(locks.oldestWaitSeconds * 1_000)} for a lock`;
      return finding("locks", message, "find its holder; see docs/coordination.md");
    });
}

function countSignals(alive: readonly ReadHeartbeat[]): StatusReport["signals"] {
  const counts = alive.flatMap(({ signals }) => signals ?? []);
  return {
    refused: sum(counts.map(({ refused }) => refused)),
    ignored: sum(counts.map(({ ignored }) => ignored)),
    rejectedRequests: sum(counts.map(({ rejectedRequests }) => rejectedRequests)),
  };
}

function signalNotes({ refused, ignored, rejectedRequests }: StatusReport["signals"]): readonly StatusFinding[] {
  const show = (type: string) => `interlock ledger show --type ${type}; interlock why signal:NAME`;
  return [
    ...(refused > 0 ? [finding("signals", `${plural(refused, "signal")} refused`, show("signal.refused"))] : []),
    ...(ignored > 0 ? [finding("signals", `${plural(ignored, "signal")} ignored`, show("signal.ignored"))] : []),
    ...(rejectedRequests > 0
      ? [
          finding(
            "signals",
            `${plural(rejectedRequests, "request")} rejected`,
            "check the tokens and limits of senders",
          ),
        ]
      : []),
  ];
}

function pauseNotes(pauses: readonly AutomationPause[]): readonly StatusFinding[] {
  return pauses.map(({ metadata, spec }) => {
    const end = spec.until === undefined ? "until it is resumed" : `until ${spec.until}`;
    const message = `automation is paused (${spec.scope}) ${end}: ${spec.reason}`;
    return finding("pauses", message, `interlock resume ${metadata.name} --reason "…"`);
  });
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

function describeProblems(problems: readonly StatusFinding[], line: StatusLine, none: string): string {
  const count = problems.filter(({ about }) => about === line).length;
  return count === 0 ? none : plural(count, "problem");
}

function describeLedger({ events, seconds }: StatusReport["ledger"], processes: number): string {
  if (processes === 0) return "unknown";
  return events === 0
    ? "the database has every event"
    : `${plural(events, "event")} behind, by ${age(seconds * 1_000)}`;
}

function countPhases(
  objects: readonly { readonly status?: { readonly phase: string } }[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of objects) {
    const phase = status?.phase ?? "new";
    counts[phase] = (counts[phase] ?? 0) + 1;
  }
  return counts;
}

/** The objects that have such a time, the earliest first. */
function byFirst<T>(objects: readonly T[], timeMs: (object: T) => number | undefined): readonly T[] {
  return objects
    .flatMap((object) => {
      const ms = timeMs(object);
      return ms === undefined ? [] : [{ object, ms }];
    })
    .sort((one, other) => one.ms - other.ms)
    .map(({ object }) => object);
}

function describeFirst<T>(
  objects: readonly T[],
  describe: (first: T, count: number) => StatusFinding,
): readonly StatusFinding[] {
  const [first] = objects;
  return first === undefined ? [] : [describe(first, objects.length)];
}

function isOpen(incident: RemediationRequest): boolean {
  return !isClosed(incident);
}

function isUndelivered({ status }: NotificationRequest): boolean {
  return status === undefined || !("completionTime" in status);
}

function isOpenTask({ status }: CodingTask): boolean {
  return status === undefined || ["Pending", "Waiting", "Running"].includes(status.phase);
}

function age(ms: number): string {
  return formatDuration(Math.round(ms / 1_000) * 1_000);
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
