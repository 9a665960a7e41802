import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtInKinds, type ExecutionEnd, type RemediationTargetStatus } from "../resources/index.ts";
import { decide } from "./decide.ts";
import { explain } from "./explanation.ts";
import { foldAck, foldEnd, foldIneffective, withHolder } from "./fold.ts";
import { lastingPauses, type Pause } from "./pauses.ts";
import type { ActionRequest, Situation } from "./request.ts";
import { defaultPolicy } from "./settings.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");
const minute = 60_000;

describe("the decision table", () => {
  it.each<[string, Partial<ActionRequest>, Partial<Situation>, string]>([
    ["nothing stands in the way", {}, {}, "allow"],
    ["no rule matches", { rulesTried: ["disk", "memory"] }, {}, "NoMatchingRule"],
    ["the workflow is not in the catalog", {}, { workflow: undefined }, "NoMatchingRule"],
    ["automation is paused", {}, { pauses: [pause()] }, "Paused"],
    ["another execution holds the target", {}, { record: held() }, "ResourceBusy"],
    ["the last execution failed while acting", {}, { record: ended(failedActing()) }, "PreviousExecutionFailed"],
    ["it failed five times before acting", {}, { record: ended(...failures(5)) }, "ExhaustedRetries"],
    ["it failed once before acting, just now", {}, { record: ended(...failures(1)) }, "RecentlyRemediated backoff"],
    ["it succeeded a minute ago", {}, { record: ended(success(1)) }, "RecentlyRemediated cooldown"],
    [
      "the execution that succeeded a minute ago was deleted",
      {},
      { record: ended({ ...success(1), cooldownEnded: true }) },
      "allow",
    ],
    [
      "an incident of its cause is open",
      { incident: { sinceMs: now, causes: [{ incident: "rr-1", rule: "disk", within: "node/worker-node-1" }] } },
      {},
      "CauseOpen",
    ],
    [
      "the fix succeeded three times and the incident came back",
      { incident: { sinceMs: now } },
      { record: ended(success(10), success(20), success(30)) },
      "Ineffective",
    ],
  ])("when %s", (_when, asked, world, expected) => {
    expect(verdict(asked, world)).toBe(expected);
  });

  it("names the first check that blocks, in the order of the table", () => {
    const everything = withHolder(ended(failedActing(), ...failures(5), success(1)), holder());

    expect(verdict({ rulesTried: [] }, { record: everything, pauses: [pause()] })).toBe("NoMatchingRule");
    expect(verdict({}, { record: everything, pauses: [pause()] })).toBe("Paused");
    expect(verdict({}, { record: everything })).toBe("ResourceBusy");
    expect(verdict({}, { record: ended(failedActing(), ...failures(5)) })).toBe("PreviousExecutionFailed");
    expect(verdict({}, { record: ended(...failures(5)) })).toBe("ExhaustedRetries");
  });

  it("contains every check, also those after the first that blocks", () => {
    const { checks } = decide(request(), situation({ record: ended(failedActing(), success(1)) }));

    expect(checks.map(({ number, answer }) => [number, answer])).toEqual([
      [0, "passes"],
      [1, "passes"],
      [2, "passes"],
      [3, "blocks"],
      [4, "passes"],
      [5, "passes"],
      [6, "blocks"],
      [7, "passes"],
      [8, "passes"],
    ]);
  });
});

describe("the evidence of a block", () => {
  it("contains the remaining time in whole seconds, rounded up", () => {
    const decision = decide(request(), situation({ record: ended(success(1)), nowMs: now + 1 }));

    expect(decision.message).toContain("; 4m of the cooldown left; clears at 2026-03-01T12:04:00.000Z");
  });
});

describe("the skip matrix", () => {
  const [target, other] = ["node/worker-node-1", "node/worker-node-2"];

  it.each<[string, RemediationTargetStatus, Partial<ActionRequest>, string]>([
    ["running, any workflow, same target", held(), { target, workflowId: "restart" }, "ResourceBusy"],
    ["completed < 5m, same workflow", ended(success(4)), { target }, "RecentlyRemediated cooldown"],
    ["completed < 5m, different workflow", ended(success(4)), { target, workflowId: "restart" }, "allow"],
    ["completed > 5m, same workflow", ended(success(6)), { target }, "allow"],
  ])("%s", (_row, record, asked, expected) => {
    expect(verdict(asked, { record })).toBe(expected);
  });

  it("does not block by the record of another target", () => {
    expect(verdict({ target: other }, { record: undefined })).toBe("allow");
  });
});

describe("a pause", () => {
  it.each<[string, Pause["spec"], boolean]>([
    ["of everything", spec({ scope: "All" }), true],
    ["of the target's namespace", spec({ scope: "Namespace", targetNamespace: "payment" }), true],
    ["of another namespace", spec({ scope: "Namespace", targetNamespace: "staging" }), false],
    ["of the target", spec({ scope: "Target", targetResource: "payment/deployment/api" }), true],
    ["of another target", spec({ scope: "Target", targetResource: "payment/deployment/web" }), false],
    ["of the workflow", spec({ scope: "Workflow", workflowId: "cleanup" }), true],
    ["of another workflow", spec({ scope: "Workflow", workflowId: "restart" }), false],
    ["that is over", spec({ scope: "All", until: iso(now) }), false],
    ["that ends in a millisecond", spec({ scope: "All", until: iso(now + 1) }), true],
  ])("%s", (_what, spec, blocks) => {
    const decision = decide(request(inNamespace), situation({ pauses: [{ name: "p", spec }] }));

    expect(decision.verdict).toBe(blocks ? "block" : "allow");
  });

  it("clears with the last pause to end; at no known time if one of them has no end", () => {
    const [soon, later, open] = [minute, 5 * minute, undefined].map((ms, i) => {
      return { name: `p${i}`, spec: spec(ms ? { scope: "All", until: iso(now + ms) } : { scope: "All" }) };
    }) as [Pause, Pause, Pause];

    expect(decide(request(), situation({ pauses: [soon, later] }))).toMatchObject({ clearsAtMs: now + 5 * minute });
    expect(decide(request(), situation({ pauses: [soon, open] }))).not.toHaveProperty("clearsAtMs");
  });

  it("is not active when it was ended or has expired; its target can have any spelling", () => {
    const metadata = { name: "p" };
    const target = { metadata, spec: spec({ scope: "Target", targetResource: "payment/deploy/api" }) };
    const ended = { ...target, status: { endedAt: iso(now), endedBy: "kim", endReason: "done" } };
    const over = { metadata, spec: spec({ scope: "All", until: iso(now) }) };

    const lasting = lastingPauses([target, ended, over], now, builtInKinds);

    expect(lasting.map(({ spec }) => spec)).toMatchObject([{ targetResource: "payment/deployment/api" }]);
  });
});

describe("boundaries", () => {
  it.each([
    [5 * minute - 1, "RecentlyRemediated cooldown"],
    [5 * minute, "allow"],
  ])("%i ms after a success with a cooldown of 5 minutes", (elapsedMs, expected) => {
    expect(verdict({}, { record: ended(success(0)), nowMs: now + elapsedMs })).toBe(expected);
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
  ])("after %i failures before acting the wait is %i minutes", (count, minutes) => {
    const record = ended(...failures(count));

    expect(verdict({}, { record, nowMs: now + minutes * minute - 1 })).toBe("RecentlyRemediated backoff");
    expect(verdict({}, { record, nowMs: now + minutes * minute })).toBe("allow");
  });

  it("the backoff is never longer than its maximum", () => {
    const record = ended(...failures(9));
    const settings = { ...defaultPolicy, maxConsecutiveFailures: 20 };

    expect(verdict({}, { record, settings, nowMs: now + 10 * minute - 1 })).toBe("RecentlyRemediated backoff");
    expect(verdict({}, { record, settings, nowMs: now + 10 * minute })).toBe("allow");
  });

  it("the workflow's own cooldown overrides the default", () => {
    const record = ended(success(1));

    expect(verdict({}, { record, workflow: { cooldownMs: minute } })).toBe("allow");
    expect(verdict({}, { record: ended(success(30)), workflow: { cooldownMs: 60 * minute } })).toMatch("cooldown");
  });

  it("successes older than 4 hours or acknowledged do not make a fix ineffective", () => {
    const asked = { incident: { sinceMs: now } };
    const old = [239, 240, 241].map((minutes) => success(minutes));

    expect(verdict(asked, { record: ended(...old) })).toBe("allow");
    const acked = foldAck(ended(success(10), success(20), success(30)), acknowledging(success(10)));
    expect(verdict(asked, { record: acked })).toBe("allow");
  });
});

describe("Ineffective", () => {
  const asked = { incident: { sinceMs: now } };

  it("counts by target and workflow, whatever the fingerprints of the incidents", () => {
    const record = ended(success(10, "v1:pod-c"), success(20, "v1:pod-b"), success(30, "v1:pod-a"));

    expect(verdict(asked, { record })).toBe("Ineffective");
    expect(verdict({ ...asked, workflowId: "restart" }, { record })).toBe("allow");
  });

  it("does not count runs without an incident", () => {
    const byHand = [10, 20, 30].map((minutes) => ({ ...end(minutes), outcome: "Success" as const }));

    expect(verdict(asked, { record: ended(...byHand) })).toBe("allow");
  });

  it("does not count a success that no later incident followed", () => {
    const inLine = [10, 20, 30].map((minutes) => ({ ...success(minutes), incidentSince: iso(now - 40 * minute) }));

    expect(verdict(asked, { record: ended(...inLine) })).toBe("allow");
    expect(verdict({ incident: { sinceMs: now - 15 * minute } }, { record: threeFixes() })).toBe("allow");
  });

  it("counts a success that an incident followed before the next run", () => {
    const chained = [10, 20, 30].map((minutes) => ({
      ...success(minutes),
      incidentSince: iso(now - (minutes + 5) * minute),
    }));

    expect(verdict(asked, { record: ended(...chained) })).toBe("Ineffective");
  });

  it("continues after its window until an acknowledgement, if the record contains it", () => {
    const record = marked(threeFixes(), success(10));
    const nowMs = now + 7 * 24 * 60 * minute;

    expect(verdict({ incident: { sinceMs: nowMs } }, { record, nowMs })).toBe("Ineffective");
    expect(verdict({ incident: { sinceMs: nowMs } }, { record: threeFixes(), nowMs })).toBe("allow");
    const acked = foldAck(record, acknowledging(success(10)));
    expect(verdict({ incident: { sinceMs: nowMs } }, { record: acked, nowMs })).toBe("allow");
    expect(verdict({ incident: { sinceMs: nowMs } }, { record: marked(acked, success(10)), nowMs })).toBe("allow");
  });

  it("continues although many other runs have ended since", () => {
    const later = Array.from({ length: 30 }, (_, i) => ({ ...end(-i - 1), outcome: "Success" as const }));
    let record = marked(threeFixes(), success(10));
    for (const end of later) record = foldEnd(record, { workflowId: "cleanup", end, backoff: defaultPolicy.backoff });
    const nowMs = now + 24 * 60 * minute;

    expect(verdict({ incident: { sinceMs: nowMs } }, { record, nowMs })).toBe("Ineffective");
  });

  it("continues for an incident that it blocks when the record was rebuilt", () => {
    const nowMs = now + 24 * 60 * minute;
    const incident = { sinceMs: now, wasIneffective: true };

    expect(verdict({ incident }, { record: threeFixes(), nowMs })).toBe("Ineffective");
    const acked = foldAck(threeFixes(), acknowledging(success(10)));
    expect(verdict({ incident }, { record: acked, nowMs })).toBe("allow");
    expect(verdict({ incident }, { record: undefined, nowMs })).toBe("allow");
  });

  it("is explained with the run to acknowledge", () => {
    const nowMs = now + 24 * 60 * minute;
    const asks = request({ incident: { sinceMs: nowMs } });
    const decision = decide(asks, situation({ record: marked(threeFixes(), success(10)), nowMs }));

    const text = explain(asks, decision).join("\n");

    expect(text).toContain(`most recently after wfe-10; detected at ${iso(now)}`);
    expect(text).toContain('interlock ack wfe-10 --reason "…"');
  });
});

describe("an acknowledgement", () => {
  it("lifts the block of the failure it names and of everything before it", () => {
    const record = foldAck(ended(failedActing(3), failedActing(2)), acknowledging(failedActing(2)));

    expect(verdict({}, { record })).toBe("allow");
  });

  it("does not lift the block of a later failure", () => {
    const record = foldAck(ended(failedActing(3), failedActing(2)), acknowledging(failedActing(3)));

    expect(verdict({}, { record })).toBe("PreviousExecutionFailed");
  });

  it("lifts exhausted retries and their backoff", () => {
    const all = failures(5);
    const record = foldAck(ended(...all), acknowledging(all[0] as ExecutionEnd));

    expect(verdict({}, { record })).toBe("allow");
  });
});

describe("an execution that holds its target", () => {
  it("is described as admitted, not as allowed to run now", () => {
    const decision = decide(request({ executionUid: holder().executionUid }), situation({ record: held() }));

    const message = `was admitted at ${holder().since} and holds the target`;
    expect(decision).toMatchObject({ verdict: "allow", message });
  });
});

describe("the message of a block", () => {
  it("contains the holder, when the block clears and the next step", () => {
    expect(decide(request(), situation({ record: held() }))).toMatchObject({
      holder: { executionName: "wfe-other" },
      message: expect.stringContaining("held by execution wfe-other"),
      nextStep: expect.stringContaining("interlock logs wfe-other"),
      requiresManualReview: false,
    });
    expect(decide(request(), situation({ record: ended(success(1)) }))).toMatchObject({
      clearsAtMs: now + 4 * minute,
      earlier: { outcome: "Success" },
    });
  });

  it.each([[ended(failedActing())], [ended(...failures(5))]])(
    "asks for a person where only a person can clear it",
    (record) => {
      expect(decide(request(), situation({ record }))).toMatchObject({ requiresManualReview: true });
    },
  );

  it("is explained check by check", () => {
    const asked = request();

    const text = explain(asked, decide(asked, situation({ record: ended(success(1)) }))).join("\n");

    expect(text).toContain("cleanup on node/worker-node-1: not now, RecentlyRemediated (cooldown)");
    expect(text).toContain("2  no other execution holds the target");
    expect(text).toContain("clears at 2026-03-01T12:04:00.000Z");
    expect(text).toContain("next: wait, or run a different workflow");
  });

  it("is ExhaustedRetries after repeated failures, and not RecentlyRemediated", () => {
    const asked = request();

    const text = explain(asked, decide(asked, situation({ record: ended(...failures(3)) }))).join("\n");

    expect(text).toContain("cleanup on node/worker-node-1: not now, Backoff\n");
    expect(text).not.toContain("RecentlyRemediated");
  });
});

describe("observe mode", () => {
  it("of a rule starts nothing and names the rule", () => {
    const incident = { sinceMs: 0, observedRule: "restart-deployments" };

    expect(decide(request({ incident }), situation({}))).toMatchObject({
      verdict: "allow",
      observeOnly: true,
      message: "would run, but nothing is started: rule restart-deployments is only observed",
    });
  });

  it.each<Partial<Situation>>([{ settings: { ...defaultPolicy, observe: true } }, { workflow: { observe: true } }])(
    "decides everything and starts nothing",
    (world) => {
      expect(decide(request(), situation(world))).toMatchObject({ verdict: "allow", observeOnly: true });
      expect(verdict({}, { ...world, record: held() })).toBe("ResourceBusy");
    },
  );
});

describe("with any history, the policy", () => {
  it("never admits while another execution holds the target", () => {
    fc.assert(
      fc.property(anyPast(), fc.nat(1e9), (ends, ms) => {
        const record = withHolder(ended(...ends), holder());
        return decide(request(), situation({ record, nowMs: now + ms })).verdict === "block";
      }),
    );
  });

  it("clears a block with a known end at that time, and does not block again without a new event", () => {
    fc.assert(
      fc.property(anyPast(), fc.nat(1e7), (ends, ms) => {
        const record = ended(...ends);
        let nowMs = now + ms;
        for (let steps = 0; steps < 4; steps++) {
          const decision = decide(request(), situation({ record, nowMs }));
          if (decision.verdict === "allow") return allowedFrom(record, nowMs);
          if (decision.clearsAtMs === undefined) return true;
          expect(decision.clearsAtMs).toBeGreaterThan(nowMs);
          nowMs = decision.clearsAtMs;
        }
        return false;
      }),
    );
  });
});

function allowedFrom(record: RemediationTargetStatus, fromMs: number): boolean {
  return [0, 1, minute, 1e8].every((ms) => verdict({}, { record, nowMs: fromMs + ms }) === "allow");
}

function verdict(asked: Partial<ActionRequest>, world: Partial<Situation>): string {
  const decision = decide(request(asked), situation(world));
  if (decision.verdict === "allow") return "allow";
  return decision.cause ? `${decision.reason} ${decision.cause}` : decision.reason;
}

const inNamespace = { target: "payment/deployment/api", namespace: "payment" };

function request(asked: Partial<ActionRequest> = {}): ActionRequest {
  return { target: "node/worker-node-1", workflowId: "cleanup", executionUid: "me", ...asked };
}

function situation(world: Partial<Situation> = {}): Situation {
  return { record: undefined, workflow: {}, pauses: [], settings: defaultPolicy, nowMs: now, ...world };
}

function pause(): Pause {
  return { name: "freeze", spec: spec({ scope: "All" }) };
}

type Scope = Pause["spec"] extends infer S
  ? S extends Pause["spec"]
    ? Omit<S, "reason" | "requestedBy">
    : never
  : never;

function spec(scope: Scope): Pause["spec"] {
  return { reason: "release", requestedBy: "kim", ...scope } as Pause["spec"];
}

function holder() {
  return {
    executionUid: "other",
    executionName: "wfe-other",
    executionNamespace: "kubernaut-system",
    workflowId: "restart",
    engine: "local" as const,
    since: iso(now - minute),
  };
}

function held(): RemediationTargetStatus {
  return withHolder(undefined, holder());
}

function ended(...ends: readonly ExecutionEnd[]): RemediationTargetStatus {
  let status: RemediationTargetStatus = {};
  for (const end of ends) {
    status = foldEnd(status, { workflowId: "cleanup", end, backoff: defaultPolicy.backoff });
  }
  return status;
}

function success(minutesAgo: number, signalFingerprint = "v1:abc"): ExecutionEnd {
  return { ...end(minutesAgo), outcome: "Success", signalFingerprint };
}

function threeFixes(): RemediationTargetStatus {
  return ended(success(10), success(20), success(30));
}

function marked(record: RemediationTargetStatus, latestSuccess: ExecutionEnd): RemediationTargetStatus {
  const { backoff } = defaultPolicy;
  const ineffective = { latestSuccess, foundAt: iso(now) };
  return foldIneffective(record, { workflowId: "cleanup", ineffective, backoff });
}

function failedActing(minutesAgo = 60): ExecutionEnd {
  return { ...end(minutesAgo), outcome: "Failed", reason: "TaskRunFailed", wasExecutionFailure: true };
}

/** The latest of them ended just now. */
function failures(count: number): readonly ExecutionEnd[] {
  return Array.from({ length: count }, (_, i) => {
    return { ...end(i), outcome: "Failed", reason: "ImagePullFailed", wasExecutionFailure: false };
  });
}

function end(minutesAgo: number): Omit<ExecutionEnd, "outcome"> {
  const completedAt = iso(now - minutesAgo * minute);
  return {
    executionUid: `uid-${minutesAgo}`,
    executionName: `wfe-${minutesAgo}`,
    executionNamespace: "ns",
    completedAt,
  };
}

function acknowledging({ executionUid, completedAt }: ExecutionEnd): Parameters<typeof foldAck>[1] {
  const ack = { executionUid, coversUntil: completedAt, by: "kim", verified: true, reason: "checked", at: iso(now) };
  return { workflowId: "cleanup", ack, backoff: defaultPolicy.backoff };
}

function anyPast(): fc.Arbitrary<readonly ExecutionEnd[]> {
  const one = fc.nat(600).chain((minutesAgo) => {
    return fc.constantFrom(success(minutesAgo), failedActing(minutesAgo), {
      ...end(minutesAgo),
      outcome: "Failed" as const,
      reason: "ImagePullFailed" as const,
      wasExecutionFailure: false,
    });
  });
  return fc.uniqueArray(one, { maxLength: 30, selector: ({ executionUid }) => executionUid });
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
