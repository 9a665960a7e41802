import type { ParameterValue } from "../../resources/index.ts";

/** What to do about a kind of problem: match → target, workflow, parameters. The first rule that applies decides. */
export interface Rule {
  readonly name: string;
  readonly match: RuleMatch;
  /** The rule does not apply to what this matches. */
  readonly unless?: RuleMatch;
  /** What to act on, such as `node/{{ labels.node }}`; the subject of the signal if left out. */
  readonly target?: string;
  readonly workflow: string;
  /** Values for the workflow's parameters; texts may have `{{ … }}` in them. */
  readonly parameters?: Readonly<Record<string, ParameterValue>>;
  readonly deferWhile?: RuleDeferral;
}

/** An incident of a symptom waits while an incident of its cause is open. */
export interface RuleDeferral {
  /** The rules of the cause. */
  readonly rule: Pattern;
  /** What the two incidents have in common. */
  readonly same: CommonAncestor;
}

export const commonAncestors = ["node", "namespace", "target"] as const;
export type CommonAncestor = (typeof commonAncestors)[number];

/** All that is given has to fit. A text fits if it is the same, or one of a list, or matches `/a regular expression/`. */
export interface RuleMatch {
  readonly signalName?: Pattern;
  readonly source?: Pattern;
  readonly severity?: Pattern;
  /** Kind of the subject, in any spelling: Node, node, nodes. An expression sees it as targets are written: node. */
  readonly kind?: Pattern;
  /** Namespace of the subject; its name if it is a Namespace. */
  readonly namespace?: Pattern;
  /** Name of the subject. */
  readonly name?: Pattern;
  readonly labels?: Readonly<Record<string, Pattern>>;
  /** What the signal named, such as a Pod, as it is when the incident is diagnosed. */
  readonly object?: FactsMatch;
  /** The end of the object's chain of owners, such as a Deployment. */
  readonly owner?: FactsMatch;
}

/** What is asked about an object. A fact with several values fits if one of them does. */
export interface FactsMatch {
  readonly labels?: Readonly<Record<string, Pattern>>;
  readonly annotations?: Readonly<Record<string, Pattern>>;
  /** The status of conditions by their type: `Ready: "False"`. */
  readonly conditions?: Readonly<Record<string, Pattern>>;
  readonly phase?: Pattern;
  /** Why a container ended last: OOMKilled, Error. */
  readonly lastTermination?: Pattern;
  /** What a container waits for: ImagePullBackOff, CrashLoopBackOff. */
  readonly waiting?: Pattern;
  /** The tool that would undo changes made by hand: Helm, ArgoCD, Flux. */
  readonly managedBy?: Pattern;
}

export type Pattern = string | readonly string[];
