import { mutantsOf } from "./mutant.ts";

const suite = "test/actions/actions.test.ts";

export const actionMutants = [
  ...mutantsOf({ file: "src/actions/run-action.ts", suite }, [
    ["acts without a right", "if (missing.length > 0) return", "if (missing.length < 0) return"],
    ["fails when the API server does not respond", "await step().catch(retryTransient)", "await step()"],
    ["writes in a dry run", 'if (parameters["dryRun"] === true) {', 'if (parameters["dryRun"] === undefined) {'],
    ["overwrites a later run", "latest <= fence) return undefined;", "latest !== fence) return undefined;"],
    ["takes a blocked eviction for a success", 'if (outcome.kind === "blocked") return outcome;', ""],
  ]),
  ...mutantsOf({ file: "src/actions/rollouts/scale.ts", suite }, [
    ["scales twice after a crash", "if (hasActed(object, executionUid)) return verify(object, inputs);", ""],
    ["ignores the limit", "if (by > 0 ? current >= max : current <= min) {", "if (by === 0) {"],
  ]),
  ...mutantsOf({ file: "src/actions/nodes/drain-node.ts", suite }, [
    ["evicts pods that nothing replaces", "if (bare.length > 0) return", "if (bare.length < 0) return"],
  ]),
  ...mutantsOf({ file: "src/actions/issues/open-issue.ts", suite }, [
    ["lets an alert give GitLab commands", '"`".repeat(longest + 1)', '"`".repeat(3)'],
  ]),
  ...mutantsOf({ file: "src/apiserver/api/evict.ts", suite }, [
    ["evicts although the budget allows none", "if (disruptionsAllowed <= 0) {", "if (disruptionsAllowed < 0) {"],
  ]),
];
