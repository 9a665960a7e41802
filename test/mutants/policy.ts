import { mutantsOf } from "./mutant.ts";

export const policyMutants = [
  ...mutantsOf({ file: "src/policy/decide.ts", suite: "src/policy/decide.test.ts" }, [
    ["reports the last check that blocks", "checks.find(", "checks.findLast("],
    ["runs although observe mode is on", "if (settings.observe)", "if (!settings)"],
    ["runs a workflow that is only observed", "if (workflow?.observe)", "if (!workflow)"],
  ]),
  ...mutantsOf({ file: "src/policy/decide.ts", suite: "src/policy/observe.test.ts" }, [
    ["observes only exact targets", "observed === target || isInside", "observed === target"],
  ]),
  ...mutantsOf({ file: "src/policy/checks.ts", suite: "src/policy/decide.test.ts" }, [
    ["allows an execution that differs from the catalog", "if (workflow?.difference)", "if (!workflow)"],
    ["ignores the problems of a workflow", "if (workflow?.problems)", "if (!workflow)"],
    ["allows a request that no rule matches", "if (workflow && !rulesTried)", "if (workflow)"],
    ["ignores pauses", "if (!paused) return", "if (paused || !paused) return"],
    ["is blocked by its own hold", "if (holder.executionUid === executionUid)", "if (!holder)"],
    ["ignores the holder of the target", "if (!holder) return", "if (holder || !holder) return"],
    ["takes any acknowledgement for every failure", "history.ack && isCovered(history.ack, failure)", "history.ack"],
    ["allows one failure too many", "count < settings.max", "count <= settings.max"],
    ["ends the backoff one moment late", "if (nowMs >= untilMs)\n", "if (nowMs > untilMs)\n"],
    [
      "ends the cooldown one moment late",
      "if (nowMs >= untilMs) return passes(`the cooldown",
      "if (nowMs > untilMs) return passes(`the cooldown",
    ],
    ["ignores the workflow's own cooldown", "(workflow?.cooldownMs ?? settings.cooldownMs)", "settings.cooldownMs"],
    ["keeps the cooldown of a deleted execution", "if (success.cooldownEnded)", "if (!success)"],
    ["counts one success too many as ineffective", "fixes.length >= times", "fixes.length > times"],
    ["forgets that a fix was ineffective", "if (history?.ineffective)", "if (!settings)"],
    [
      "ignores open causes",
      'if (!first) return passes("no cause is open")',
      'if (first || !first) return passes("no cause is open")',
    ],
    ["counts successes that are acknowledged", " && !isCovered(history?.ack, end)", ""],
    ["rounds a wait down", "Math.ceil(ms / 1_000)", "Math.floor(ms / 1_000)"],
  ]),
  ...mutantsOf({ file: "src/policy/fold.ts", suite: "src/policy/fold.test.ts" }, [
    [
      "keeps the holder after its end",
      "status?.holder?.executionUid === end.executionUid ? withoutHolder(status) : status;",
      "status;",
    ],
    [
      "frees the hold of another execution",
      "status?.holder?.executionUid === executionUid ? withoutHolder(status)",
      "status?.holder ? withoutHolder(status)",
    ],
    [
      "covers failures after the acknowledgement",
      "Date.parse(ack.coversUntil) >= Date.parse(completedAt)",
      "Date.parse(ack.coversUntil) <= Date.parse(completedAt)",
    ],
    [
      "counts failures while acting as failures before acting",
      'outcome === "Failed" && !wasExecutionFailure &&',
      'outcome === "Failed" &&',
    ],
    ["counts failures before the last success", "Date.parse(completedAt) > since", "since > 0"],
    ["keeps the older of two facts", "order(a) > order(b) ? a : b", "order(a) < order(b) ? a : b"],
    ["compares times as they are written", "return new Date(time).toISOString();", "return time;"],
    ["forgets that a cooldown was ended", "known?.cooldownEnded ? {", "!known ? {"],
    ["lists the oldest ends", "endOrder(a) > endOrder(b) ? -1 : 1", "endOrder(a) < endOrder(b) ? -1 : 1"],
  ]),
];
