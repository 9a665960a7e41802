import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type LedgerEvent,
  ledgerDatabase,
  postgresStore,
  sqliteStore,
  verifyDatabase,
  verifyHandOver,
  verifyLedger,
} from "../../src/ledger/index.ts";
import {
  closedIncidentPhases,
  type NotificationRequest,
  notificationRequests,
  type RemediationRequest,
  remediationRequests,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { Dice } from "../chaos/dice.ts";
import { disagreements, eventsIn } from "../doubles/why-agrees.ts";
import { overlaps } from "../executor/processes/step-witness.ts";
import { until } from "../executor/processes/until.ts";
import { type Alert, Sender } from "./sender.ts";
import { StormStage, type StormStageOptions, workflowOf } from "./storm-stage.ts";

export interface StormPlan extends StormStageOptions {
  readonly signals: number;
  /** Goes on so long, however many signals that takes. */
  readonly forMs?: number;
  readonly targets: number;
  /** The longest time between two kills. */
  readonly killEveryMs: number;
  readonly seed: number;
}

export interface StormResult {
  readonly seconds: number;
  readonly figures: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

/** Alerts of all kinds at once, while stages are killed and stopped all the time. When it is quiet again, everything has to add up. */
export async function playStorm(plan: StormPlan): Promise<StormResult> {
  const dice = new Dice(plan.seed);
  await using stage = await StormStage.open(plan);
  const startedAt = performance.now();
  for (const one of stage.stages) one.start();
  const calm = new AbortController();
  const killing = killAtRandom(stage, plan, dice, calm.signal);
  const sender = new Sender(stage.urls, dice);
  const sent = await sendAll(sender, plan, dice);
  calm.abort();
  const { kills, upgrades } = await killing;

  const { figures, problems } = await addUp(stage, sender);
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    figures: { ...figures, signals: sent, kills, ...(plan.before && { upgrades }) },
    problems,
  };
}

/** When it is quiet again: what there is, and whatever does not add up. */
export async function addUp(stage: StormStage, sender: Sender): Promise<Omit<StormResult, "seconds">> {
  const incidents = await settledIncidents(stage, sender);
  const { items: executions } = await stage.client.list(workflowExecutions);
  const notices = await settledNotices(stage);
  const ledger = await recorded(stage);
  return {
    figures: { ...figuresOf(incidents, executions), notices: notices.length, events: ledger.events.length },
    problems: [
      ...sender.refusals,
      ...miscounted(sender, incidents),
      ...overlaps(stage.witness.read()),
      ...startedTwice(stage),
      ...untold(ledger.events, incidents),
      ...(await disagreements({ client: stage.client, events: () => ledger.events })),
      ...ledger.problems,
      ...undelivered(stage, notices),
    ],
  };
}

/** Several senders at once, each waiting for its answers. */
async function sendAll(sender: Sender, { signals, targets, forMs }: StormPlan, dice: Dice): Promise<number> {
  const endsAt = performance.now() + (forMs ?? Number.POSITIVE_INFINITY);
  let left = forMs === undefined ? signals : Number.POSITIVE_INFINITY;
  let sent = 0;
  async function work() {
    while (left > 0 && performance.now() < endsAt) {
      const size = Math.min(left, dice.whole(1, 40));
      left -= size;
      sent += size;
      await sender.send(Array.from({ length: size }, () => alertBy(dice, targets)));
      await wait(forMs === undefined ? dice.between(0, 30) : dice.between(200, 1_000));
    }
  }
  await Promise.all(Array.from({ length: 8 }, work));
  return sent;
}

function alertBy(dice: Dice, targets: number): Alert {
  const name = dice.pick(Object.keys(workflowOf));
  return { name, node: `worker-${dice.whole(1, targets)}`, isOver: dice.chance(0.02) };
}

/**
 * Returns how many died, at least one, and how many of them came back as this version. In the end all of them run: both
 * versions, if there are two.
 */
async function killAtRandom(
  { stages, program }: StormStage,
  { killEveryMs, before }: StormPlan,
  dice: Dice,
  calm: AbortSignal,
): Promise<{ readonly kills: number; readonly upgrades: number }> {
  const minUpgrades = before === undefined ? 0 : 1;
  let [kills, upgrades] = [0, 0];
  const isEnough = () => kills > 0 && upgrades >= minUpgrades;
  // On a fast machine all may be sent before a process is killed: then one is killed while the alerts are decided.
  while (!calm.aborted || !isEnough()) {
    await wait(dice.between(killEveryMs / 4, killEveryMs), undefined, { signal: calm }).catch(() => {});
    if (calm.aborted && isEnough()) break;
    const victim = dice.pick(stages);
    if (dice.chance(0.25)) {
      // To the paused process no time has passed.
      victim.pause();
      await wait(dice.between(0, killEveryMs));
      victim.resume();
      continue;
    }
    await victim.kill();
    kills++;
    const isLast = stages.filter((one) => one.program === before).length === 1;
    if (victim.program === before && !isLast && dice.chance(0.5)) {
      victim.upgradeTo(program);
      upgrades++;
    }
    await wait(dice.between(0, killEveryMs / 4));
    victim.start();
  }
  for (const stage of stages) if (stage.hasEnded) stage.start();
  return { kills, upgrades };
}

/** Counts that a killed gateway has only on its disk come late, and may open incidents of their own. */
async function settledIncidents(stage: StormStage, sender: Sender): Promise<readonly RemediationRequest[]> {
  let latest: readonly RemediationRequest[] = [];
  async function look() {
    const incidents = await decidedIncidents(stage);
    latest = incidents ?? latest;
    return incidents && miscounted(sender, incidents).length === 0 ? incidents : undefined;
  }
  return await until("every incident is decided, and everything is counted", look, { withinMs: 120_000 }).catch(
    (error) => {
      if (latest.length === 0) throw new Error(`${error.message}\n${stage.logs()}`);
      return latest;
    },
  );
}

/** All incidents, once nothing is under way any more: each is closed, or waits for a person or for other rules. */
async function decidedIncidents({ client }: StormStage): Promise<readonly RemediationRequest[] | undefined> {
  const { items } = await client.list(remediationRequests);
  return items.length > 0 && items.every(isDecided) ? items : undefined;
}

function isDecided({ status }: RemediationRequest): boolean {
  if (status?.phase === "Blocked") return status.block.decision !== undefined && status.block.until === undefined;
  const isClosed = closedIncidentPhases.some((phase) => phase === status?.phase);
  return isClosed && (status?.conditions?.some(({ type }) => type === "Recorded") ?? false);
}

/** Every accepted alert has to be in the incidents, and nothing else. */
function miscounted({ accounts }: Sender, incidents: readonly RemediationRequest[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { spec, status } of incidents) {
    const key = `${spec.signalName} ${spec.targetResource.name}`;
    counts.set(key, (counts.get(key) ?? 0) + (status?.deduplication?.occurrenceCount ?? 0));
  }
  return [...accounts].flatMap(([key, { accepted, sent }]) => {
    const counted = counts.get(key) ?? 0;
    return accepted <= counted && counted <= sent
      ? []
      : [`${key}: accepted ${accepted}, counted ${counted}, sent ${sent}`];
  });
}

function startedTwice({ witness }: StormStage): readonly string[] {
  const seen = new Set<string>();
  const starts = witness.read().filter(({ reported }) => reported === "start");
  return starts.flatMap(({ executionUid }) => {
    if (seen.has(executionUid)) return [`${executionUid} began twice`];
    seen.add(executionUid);
    return [];
  });
}

/** All notices have been delivered, as far as possible. */
async function settledNotices({ client }: StormStage): Promise<readonly NotificationRequest[]> {
  const look = async () => {
    const { items } = await client.list(notificationRequests);
    return items.every(({ status }) => status && "completionTime" in status) ? items : undefined;
  };
  return await until("every notice is settled", look, { withinMs: 120_000 }).catch(
    async () => (await client.list(notificationRequests)).items,
  );
}

/** Every notice is delivered at least once, by itself or in a digest. */
function undelivered({ receiver }: StormStage, notices: readonly NotificationRequest[]): readonly string[] {
  const delivered = new Set(receiver.letters.map(({ headers }) => headers["idempotency-key"]));
  return notices.flatMap(({ metadata, status }) => {
    const { name, uid } = metadata;
    if (status?.phase === "Digested") return [];
    if (status?.phase !== "Sent") return [`notice ${name} is ${status?.phase ?? "new"}`];
    return delivered.has(uid) ? [] : [`notice ${name} is Sent, but never arrived`];
  });
}

interface Recorded {
  readonly events: readonly LedgerEvent[];
  readonly problems: readonly string[];
}

/** What the ledger has, once its database has all that is in the journals, and what is wrong with either. */
async function recorded({ directory: root, ledgerUrl }: StormStage): Promise<Recorded> {
  const directory = join(root, "ledger");
  const store = ledgerUrl ? postgresStore({ url: ledgerUrl }) : sqliteStore(join(directory, "ledger.sqlite"));
  const database = ledgerDatabase(store);
  try {
    const journals = await verifyLedger(directory);
    const missing = async () => {
      const events: LedgerEvent[] = [];
      for await (const event of database.events({})) events.push(event);
      const ids = new Set(events.map(({ id }) => id));
      const lacks = (await eventsIn(directory))().filter(({ id, type }) => type !== "ledger.heads" && !ids.has(id));
      return { events, lacks };
    };
    let latest = await missing();
    await until(
      "the database has what the journals have",
      async () => {
        latest = await missing();
        return latest.lacks.length === 0;
      },
      { withinMs: 60_000 },
    ).catch(() => {});
    const chains = await verifyDatabase(database);
    const handOver = await verifyHandOver(directory, database);
    const wrong = [...journals.problems, ...chains.problems, ...handOver].map((problem) => JSON.stringify(problem));
    const lacking = latest.lacks.map(({ id }) => `${id} is in a journal, but not in the database`);
    return { events: latest.events, problems: [...wrong, ...lacking] };
  } finally {
    await database.close();
  }
}

/** Every incident has a decision, or an end, in the ledger; and the one that its status names. */
function untold(events: readonly LedgerEvent[], incidents: readonly RemediationRequest[]): readonly string[] {
  const ids = new Set(events.map(({ id }) => id));
  const decisions = events.filter(({ type }) => type === "incident.decided" || type === "incident.closed");
  const decided = new Set(decisions.map(({ id }) => id.split("/")[0]));
  return incidents.flatMap(({ metadata, status }) => {
    if (!decided.has(metadata.uid ?? "")) return [`${metadata.name} was decided, but the ledger does not say so`];
    const named = status?.phase === "Blocked" ? status.block.decision : undefined;
    return named === undefined || ids.has(named) ? [] : [`${metadata.name} names a decision that is not recorded`];
  });
}

function figuresOf(incidents: readonly RemediationRequest[], executions: readonly WorkflowExecution[]) {
  const figures: Record<string, number> = { incidents: incidents.length, executions: executions.length };
  for (const { status } of incidents) {
    const end =
      status && "outcome" in status ? status.outcome : status?.phase === "Blocked" ? status.block.reason : "open";
    figures[end] = (figures[end] ?? 0) + 1;
  }
  for (const { status } of executions) {
    const end = `executions ${status?.phase}`;
    figures[end] = (figures[end] ?? 0) + 1;
  }
  return figures;
}
