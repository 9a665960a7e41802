import type { LedgerEvent } from "../../src/ledger/index.ts";
import type { ExecutionTrail } from "./executor-history.ts";

const endTypes: Readonly<Record<string, string>> = {
  Completed: "execution.completed",
  Failed: "execution.failed",
  Skipped: "execution.skipped",
};

/** How the ledger contradicts what happened, once everything has come to rest; undefined if they agree. */
export function ledgerContradiction(
  trails: readonly ExecutionTrail[],
  events: readonly LedgerEvent[],
): string | undefined {
  const byExecution = new Map<string, LedgerEvent[]>();
  for (const event of events) {
    const uid = String(event.facts["execution_id"]);
    byExecution.set(uid, [...(byExecution.get(uid) ?? []), event]);
  }
  for (const trail of trails) {
    const recorded = byExecution.get(trail.uid) ?? [];
    const wrong = wrongEnd(trail, recorded) ?? wrongHolding(trail, recorded);
    if (wrong)
      return `${trail.name}: ${wrong}; recorded was ${recorded.map(({ type }) => type).join(", ") || "nothing"}`;
  }
  return undefined;
}

/** One end, the one in its status; none for what was deleted before it had ended. */
function wrongEnd(
  { object, target, isForced, isGone }: ExecutionTrail,
  recorded: readonly LedgerEvent[],
): string | undefined {
  const ends = recorded.filter(({ type }) => Object.values(endTypes).includes(type));
  const expected = endTypes[object.status?.phase ?? ""];
  // Nothing keeps these until their end is recorded.
  if (isForced || (isGone && target === undefined)) return undefined;
  if (ends.length > 1) return "it ended twice";
  if (ends[0]?.type !== expected) return `it is ${object.status?.phase ?? "new"}`;
  return ends[0] && wrongFacts(object.status as never, ends[0]);
}

function wrongFacts(
  status: { failureDetails?: { reason: string }; skipDetails?: { reason: string } },
  end: LedgerEvent,
) {
  const { failure_reason: failure, skip_reason: skip } = end.facts;
  const isRight = failure === status.failureDetails?.reason && skip === status.skipDetails?.reason;
  return isRight ? undefined : `the ledger gives ${failure ?? skip} as the reason`;
}

/** Every holder of the target is recorded with the version of the record at which it held it; so is every release. */
function wrongHolding({ holdings, isForced }: ExecutionTrail, recorded: readonly LedgerEvent[]): string | undefined {
  const admitted = recorded.find(({ type }) => type === "execution.admitted");
  const freed = recorded.find(({ type }) => type === "target.freed");
  if (admitted) {
    const version = Number(admitted.facts["record_version"]);
    const fits = holdings.some(
      ({ fromVersion, toVersion = Infinity }) => fromVersion <= version && version < toVersion,
    );
    if (!fits) return `it did not hold the target at version ${version}`;
  }
  if (isForced || holdings.some(({ recordDeleted }) => recordDeleted)) return undefined;
  if (admitted && !freed) return "it was admitted, and never freed";
  if (freed && !admitted) return "it was freed, and never admitted";
  if (holdings.length > 0 && !admitted) return "it held the target, and the ledger does not know";
  return undefined;
}
