import { diagnose, distinctLabels } from "../policy/index.ts";
import type { Kinds, ObjectReference, RemediationRequestSpec, Signal, Target } from "../resources/index.ts";
import { openRules, type RulesOptions } from "./rules.ts";

/** The effect of rules on the identity of signals. */
export interface RuleTargets {
  /** The target that the first matching rule gives. Undefined if none applies. */
  targetOf(signal: Signal): Target | undefined;
  /** The labels by which the rules distinguish signals about `owner`. */
  labelsOf(signal: Signal, owner: ObjectReference): readonly string[];
  close(): void;
}

/** Watches the rules for the gateway, which also accepts signals while the rules are invalid. */
export async function openRuleTargets(options: Omit<RulesOptions, "ifWrong" | "readFacts">): Promise<RuleTargets> {
  const analyzer = await openRules({ ...options, ifWrong: "start-without", readFacts: noObject });
  return {
    targetOf: (signal) => ruleTarget(signal, analyzer.rules, options.kinds.current),
    labelsOf: (signal, owner) => distinctLabels(asSpec(signal, owner), analyzer.rules, options.kinds.current),
    close: () => analyzer.close(),
  };
}

/** A signal without a subject has no object: rules that need facts do not apply to it. */
async function noObject(): Promise<never> {
  throw new TypeError("a signal without a subject has no facts");
}

function ruleTarget(signal: Signal, rules: Parameters<typeof diagnose>[1], kinds: Kinds): Target | undefined {
  // Without a subject: rules that match or act on the subject do not apply.
  const analysis = diagnose(asSpec(signal, { kind: "", name: "" }), rules, kinds);
  return analysis.kind === "diagnosed" ? analysis.target : undefined;
}

function asSpec(signal: Signal, { kind, name, namespace, apiVersion }: ObjectReference): RemediationRequestSpec {
  return {
    signalFingerprint: "",
    signalName: signal.name,
    signalSource: signal.source,
    severity: signal.severity,
    targetResource: { kind, name, ...(namespace && { namespace }), ...(apiVersion && { apiVersion }) },
    firingTime: signal.firingAt,
    receivedTime: signal.firingAt,
    signalLabels: signal.labels,
    signalAnnotations: signal.annotations,
  };
}
