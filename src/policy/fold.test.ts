import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Acknowledgement, ExecutionEnd, Ineffectiveness, RemediationTargetStatus } from "../resources/index.ts";
import { keptEnds } from "../resources/index.ts";
import { findHistory, foldAck, foldEnd, foldIneffective, freeHolder, isFolded, withHolder } from "./fold.ts";
import { defaultPolicy } from "./settings.ts";

const { backoff } = defaultPolicy;
const start = Date.parse("2026-03-01T12:00:00.000Z");

describe("facts about a target", () => {
  it("may be folded in any order", () => {
    fc.assert(
      fc.property(someFacts(), fc.infiniteStream(fc.nat()), (facts, picks) => {
        expect(folded(shuffled(facts, picks))).toEqual(folded(facts));
      }),
      { numRuns: 500 },
    );
  });

  it("may be folded twice without changing anything", () => {
    fc.assert(
      fc.property(someFacts(), (facts) => {
        expect(folded([...facts, ...facts])).toEqual(folded(facts));
      }),
    );
  });

  it("are reported as folded after the fold, and a second fold changes nothing", () => {
    fc.assert(
      fc.property(someFacts(), someFacts(), (past, facts) => {
        const status = folded(past);
        for (const fact of facts) {
          if ("end" in fact && isFolded(status, fact)) expect(folded([fact], status)).toEqual(status);
          if ("end" in fact) expect(isFolded(folded([fact], status), fact)).toBe(true);
        }
      }),
    );
  });

  it("that block are never lost to retention, however many ends follow", () => {
    const blocking = failure("blocking", 0, true);
    const later = Array.from({ length: 50 }, (_, i) => success(`s${i}`, 1 + i));

    const history = findHistory(folded([blocking, ...later].map(fact)), "cleanup");

    expect(history?.recentEnds).toHaveLength(keptEnds);
    expect(history?.recentEnds[0]?.executionUid).toBe("s49");
    expect(history?.lastExecutionFailure?.executionUid).toBe("blocking");
  });
});

describe("the holder of a target", () => {
  const holder = {
    ...{ executionUid: "a", executionName: "wfe-a", executionNamespace: "ns" },
    ...{ workflowId: "cleanup", engine: "tekton" as const, since: at(0) },
  };

  it("is removed by its own execution only", () => {
    const status = withHolder({}, holder);

    expect(freeHolder(status, "b")).toEqual(status);
    expect(freeHolder(status, "a")).toEqual({});
  });
});

describe("the later of two ends", () => {
  it("is determined by time, whatever the precision of the times", () => {
    const early = { ...success("early", 0), completedAt: "2026-03-01T12:00:00Z" };
    const late = { ...success("late", 0), completedAt: "2026-03-01T12:00:00.500Z" };

    for (const ends of [
      [early, late],
      [late, early],
    ]) {
      expect(findHistory(folded(ends.map(fact)), "cleanup")?.lastSuccess?.executionUid).toBe("late");
    }
  });
});

describe("failures before acting", () => {
  it("are counted since the latest success or acknowledgement", () => {
    const facts = [failure("a", 1), failure("b", 2), success("c", 3), failure("d", 4), failure("e", 5)].map(fact);

    expect(findHistory(folded(facts), "cleanup")).toMatchObject({ consecutiveFailures: 2 });
    const acked = folded([...facts, { workflowId: "cleanup", ack: ack("d", 4) }]);
    expect(findHistory(acked, "cleanup")).toMatchObject({ consecutiveFailures: 1 });
  });

  it("are neither counted nor reset by a failure while acting", () => {
    const facts = [failure("a", 1), failure("b", 2, true), failure("c", 3)].map(fact);

    expect(findHistory(folded(facts), "cleanup")).toMatchObject({ consecutiveFailures: 2 });
  });

  it("of one workflow do not affect another", () => {
    const status = folded([fact(failure("a", 1)), { workflowId: "restart", end: success("b", 2) }]);

    expect(findHistory(status, "cleanup")).toMatchObject({ consecutiveFailures: 1 });
    expect(findHistory(status, "restart")).toMatchObject({ consecutiveFailures: 0 });
  });

  it("have the same backoff with jitter, whichever replica folds them", () => {
    const jittered = { ...backoff, jitter: 0.5 };
    const end = failure("a", 0);
    const [one, other] = [1, 2].map(() => foldEnd(undefined, { workflowId: "cleanup", end, backoff: jittered }));

    expect(one).toEqual(other);
    const waitMs = Date.parse(findHistory(one, "cleanup")?.nextAllowed ?? "") - start;
    expect(waitMs).toBeGreaterThanOrEqual(30_000);
    expect(waitMs).toBeLessThanOrEqual(90_000);
  });
});

describe("the end of an execution", () => {
  it("frees the target if it held it", () => {
    const status = withHolder(undefined, holder("a"));

    expect(folded([fact(success("a", 1))], status)).not.toHaveProperty("holder");
  });

  it("does not free the target if another execution holds it", () => {
    const status = withHolder(undefined, holder("b"));

    expect(folded([fact(success("a", 1))], status).holder?.executionUid).toBe("b");
  });

  it("is not reported as folded while its execution holds the target", () => {
    const status = withHolder(folded([fact(success("a", 1))]), holder("a"));

    expect(isFolded(status, fact(success("a", 1)))).toBe(false);
  });
});

type Fact =
  | { readonly workflowId: string; readonly end: ExecutionEnd }
  | { readonly workflowId: string; readonly ineffective: Ineffectiveness }
  | { readonly workflowId: string; readonly ack: Acknowledgement };

function folded(facts: readonly Fact[], status: RemediationTargetStatus = {}): RemediationTargetStatus {
  let result = status;
  for (const fact of facts) {
    if ("end" in fact) result = foldEnd(result, { ...fact, backoff });
    else if ("ack" in fact) result = foldAck(result, { ...fact, backoff });
    else result = foldIneffective(result, { ...fact, backoff });
  }
  return result;
}

function fact(end: ExecutionEnd): { workflowId: string; end: ExecutionEnd } {
  return { workflowId: "cleanup", end };
}

function success(uid: string, minute: number): ExecutionEnd {
  return {
    executionUid: uid,
    executionName: `wfe-${uid}`,
    executionNamespace: "ns",
    outcome: "Success",
    completedAt: at(minute),
  };
}

function failure(uid: string, minute: number, wasExecutionFailure = false): ExecutionEnd {
  return { ...success(uid, minute), outcome: "Failed", reason: "Unknown", wasExecutionFailure };
}

function ack(uid: string, minute: number): Acknowledgement {
  return { executionUid: uid, coversUntil: at(minute), by: "kim", verified: true, reason: "checked", at: at(100) };
}

function holder(executionUid: string) {
  const names = { executionName: "wfe", executionNamespace: "ns", workflowId: "cleanup" };
  return { executionUid, ...names, engine: "job" as const, since: at(0) };
}

function at(minute: number): string {
  return new Date(start + minute * 60_000).toISOString();
}

/** Facts as they can be: one end per execution, deleted or not, and acknowledgements of any of them. */
function someFacts(): fc.Arbitrary<readonly Fact[]> {
  const end = fc.record({ uid: fc.nat(90), how: fc.nat(3) }).map(({ uid, how }) => {
    // The facts of an execution follow from its uid, so that the same one never ends in two ways.
    const minute = (uid * 7) % 53;
    const end = uid % 3 === 0 ? success(`u${uid}`, minute) : failure(`u${uid}`, minute, uid % 3 === 1);
    return how === 0 && uid % 3 === 0 ? { ...end, cooldownEnded: true as const } : end;
  });
  const one = fc.record({ end, isAck: fc.nat(4) }).map(({ end, isAck }): Fact => {
    const workflowId = Number(end.executionUid.slice(1)) % 2 === 0 ? "cleanup" : "restart";
    const { executionUid, completedAt } = end;
    if (isAck === 1) return { workflowId, ineffective: { latestSuccess: end, foundAt: completedAt } };
    if (isAck > 0) return { workflowId, end };
    return { workflowId, ack: { ...ack(executionUid, 0), coversUntil: completedAt } };
  });
  return fc.array(one, { maxLength: 120 });
}

function shuffled<T>(items: readonly T[], picks: Iterable<number>): readonly T[] {
  const rest = [...items];
  const result: T[] = [];
  for (const pick of picks) {
    if (rest.length === 0) break;
    result.push(...rest.splice(pick % rest.length, 1));
  }
  return result;
}
