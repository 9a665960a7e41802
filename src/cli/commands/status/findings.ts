import { pauseScope, type RowKind, rowFacts } from "../../../console/rows/index.ts";
import { type KubeObject, leases, type ResourceType } from "../../../kube/index.ts";
import { isCovered } from "../../../policy/index.ts";
import {
  type AutomationPause,
  type CodingTask,
  describeStall,
  type ExecutionEnd,
  findStall,
  isDigested,
  type NotificationRequest,
  notificationRequests,
  type ReadHeartbeat,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationTarget,
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
  readonly targets: readonly RemediationTarget[];
  readonly notices: readonly NotificationRequest[];
  readonly pauses: readonly AutomationPause[];
  /** How long notices wait for others, to be delivered with them. */
  readonly digestWindowMs: number;
  /** The kinds that the caller may not list. */
  readonly unreadable: readonly UnreadableKind[];
}

export interface UnreadableKind {
  readonly plural: string;
  readonly reason: string;
}

export interface StageReport {
  readonly name: string;
  readonly process: string;
  readonly version: string;
  readonly isAlive: boolean;
  readonly isReady: boolean;
  readonly heartbeatAgeMs: number;
}

/** Something that an operator should do, or may want to know. */
export interface StatusFinding {
  readonly about: StatusLine;
  readonly message: string;
  /** What to do. */
  readonly next: string;
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
export const requiredStages = ["gateway", "orchestrator", "executor", "notify"] as const;

/** A shorter lag, wait or delay is normal under load. */
const slowAfterMs = 60_000;

/** A process that vanished longer ago than this, and was replaced, is not mentioned any more. */
const forgottenAfterMs = 3_600_000;

/** What the findings are derived from. */
export interface StatusFacts {
  readonly snapshot: StatusSnapshot;
  readonly stages: readonly StageReport[];
  /** How far the database is behind. */
  readonly ledger: { readonly events: number; readonly seconds: number };
  readonly signals: { readonly refused: number; readonly ignored: number; readonly rejectedRequests: number };
  /** Of processes that still run. */
  readonly alive: readonly ReadHeartbeat[];
  /** Those that have not ended. */
  readonly pauses: readonly AutomationPause[];
}

/** Finds work that does not get done, or not as it was configured. */
export function findProblems({ snapshot, stages, alive, ledger }: StatusFacts): readonly StatusFinding[] {
  return [
    ...snapshot.unreadable.map(({ plural, reason }) =>
      finding("stages", `cannot read ${plural}: ${reason}`, "ask for this right, or use another context"),
    ),
    ...stageProblems(stages, snapshot),
    ...reportedProblems(alive),
    ...workProblems(snapshot),
    ...ledgerProblems(ledger),
    ...lockProblems(alive),
  ];
}

/** Finds what waits for an operator, or is unusual, while everything works. */
export function findNotes({ snapshot, stages, signals, pauses }: StatusFacts): readonly StatusFinding[] {
  return [...stageNotes(stages), ...workNotes(snapshot), ...signalNotes(signals), ...pauseNotes(pauses)];
}

function finding(about: StatusLine, message: string, next: string): StatusFinding {
  return { about, message, next };
}

/** Whether the caller may list a kind. Without this right, an empty list means nothing. */
export function isReadable({ unreadable }: StatusSnapshot, { plural }: Pick<ResourceType, "plural">): boolean {
  return !unreadable.some((kind) => kind.plural === plural);
}

function stageProblems(stages: readonly StageReport[], snapshot: StatusSnapshot): readonly StatusFinding[] {
  if (!isReadable(snapshot, leases)) return [];
  const required = openOnes("tasks", snapshot.tasks).length > 0 ? [...requiredStages, "agent"] : requiredStages;
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
      const about = area === "workflows" ? "rules" : area === "engines" ? "executions" : area;
      const text = about === "rules" ? message : `${process}: ${message}`;
      found.set(text, finding(about, text, nextSteps[area] ?? "read the log"));
    }
  }
  return [...found.values()];
}

const nextSteps: Readonly<Record<string, string>> = {
  rules: "correct the file, then: interlock policy test; the earlier rules stay in force until then",
  workflows: "correct the file, see docs/workflows.md; it is read again by itself",
  engines: "correct execution.engines, then restart; see docs/workflows.md",
  signals: "senders repeat their signals; see the reason: interlock get notices, or the log of the gateway",
  watches: "if a right is missing, apply the roles of: interlock manifests; otherwise check the API server",
};

/** Work that fails, or that no process has begun although it should have. */
function workProblems(snapshot: StatusSnapshot): readonly StatusFinding[] {
  const { incidents, executions, tasks, notices } = snapshot;
  const why = (name: string) => `interlock why ${name}`;
  const list = () => "interlock get notices";
  const kinds = [
    {
      about: "incidents",
      noun: "incident",
      stage: "orchestrator",
      next: why,
      objects: openOnes("incidents", incidents),
    },
    {
      about: "executions",
      noun: "execution",
      stage: "executor",
      next: why,
      objects: openOnes("executions", executions),
    },
    { about: "executions", noun: "coding task", stage: "agent", next: why, objects: openOnes("tasks", tasks) },
    { about: "stages", noun: "notice", stage: "notify", next: list, objects: openOnes("notices", notices) },
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

function workNotes({ incidents, approvals, targets }: StatusSnapshot): readonly StatusFinding[] {
  const blocked = incidents.filter(({ status }) => status?.phase === "Blocked").length;
  const open = openOnes("approvals", approvals).length;
  return [
    ...noteIf(blocked, "incident", { about: "incidents", state: "blocked", next: "interlock get incidents" }),
    ...noteIf(open, "approval", { about: "incidents", state: "waiting", next: "interlock get approvals" }),
    ...describeFirst(byFirst(targets.flatMap(unreviewedFailures), failedAtMs), ({ executionName }, count) => {
      const message = `${plural(count, "failed execution")} not acknowledged, the first is ${executionName}`;
      return finding("executions", message, `interlock why ${executionName}`);
    }),
  ];
}

/** The failures after which a workflow is blocked on this target until an operator acknowledges them. */
function unreviewedFailures({ status }: RemediationTarget): readonly ExecutionEnd[] {
  return (status?.workflows ?? []).flatMap(({ lastExecutionFailure, ack }) =>
    lastExecutionFailure && !isCovered(ack, lastExecutionFailure) ? [lastExecutionFailure] : [],
  );
}

function failedAtMs({ completedAt }: ExecutionEnd): number {
  return Date.parse(completedAt);
}

function ledgerProblems({ events, seconds }: StatusFacts["ledger"]): readonly StatusFinding[] {
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

function signalNotes({ refused, ignored, rejectedRequests }: StatusFacts["signals"]): readonly StatusFinding[] {
  const about = "signals";
  const show = (type: string) => `interlock ledger show --type ${type}; interlock why signal:NAME`;
  return [
    ...noteIf(refused, "signal", { about, state: "refused", next: show("signal.refused") }),
    ...noteIf(ignored, "signal", { about, state: "ignored", next: show("signal.ignored") }),
    ...noteIf(rejectedRequests, "request", {
      ...{ about, state: "rejected" },
      next: "check the tokens and limits of senders",
    }),
  ];
}

/** A note about a number of things in the same state; none if there are none. */
function noteIf(
  count: number,
  noun: string,
  { about, state, next }: Pick<StatusFinding, "about" | "next"> & { readonly state: string },
): readonly StatusFinding[] {
  return count === 0 ? [] : [finding(about, `${plural(count, noun)} ${state}`, next)];
}

function pauseNotes(pauses: readonly AutomationPause[]): readonly StatusFinding[] {
  return pauses.map(({ metadata, spec }) => {
    const end = spec.until === undefined ? "until it is resumed" : `until ${spec.until}`;
    const message = `automation is paused (${pauseScope(spec)}) ${end}: ${spec.reason}`;
    return finding("pauses", message, `interlock resume ${metadata.name} --reason "…"`);
  });
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

/** Those about which there is still something to do, as in the console. */
export function openOnes<T extends KubeObject>(kind: RowKind, objects: readonly T[]): readonly T[] {
  return objects.filter((object) => rowFacts(kind, object).isOpen);
}

export function age(ms: number): string {
  return formatDuration(Math.round(ms / 1_000) * 1_000);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
