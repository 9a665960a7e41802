import type { ParameterValue } from "../../resources/index.ts";

/** What to do about a kind of problem: match → target, workflow, parameters. The first rule that applies decides. */
export interface Rule {
  readonly name: string;
  readonly match: RuleMatch;
  /** What to act on, such as `node/{{ labels.node }}`; the subject of the signal if left out. */
  readonly target?: string;
  readonly workflow: string;
  /** Values for the workflow's parameters; texts may have `{{ … }}` in them. */
  readonly parameters?: Readonly<Record<string, ParameterValue>>;
}

/** All that is given has to fit. A text fits if it is the same, or one of a list, or matches `/a regular expression/`. */
export interface RuleMatch {
  readonly signalName?: Pattern;
  readonly source?: Pattern;
  readonly severity?: Pattern;
  /** Kind of the subject, in any spelling: Node, node, nodes. An expression sees it as targets are written: node. */
  readonly kind?: Pattern;
  /** Namespace of the subject. */
  readonly namespace?: Pattern;
  readonly labels?: Readonly<Record<string, Pattern>>;
}

export type Pattern = string | readonly string[];
