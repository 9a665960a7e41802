/** A target of an action. Two targets with the same `text` are the same target; only the parsers of this folder create one. */
export type Target = ObjectTarget | RepositoryTarget;

/** A Kubernetes object: `payment/deployment/payment-api`, `node/worker-node-1`. */
export interface ObjectTarget {
  readonly type: "object";
  /** `[cluster:]namespace/kind[.group]/name` or `[cluster:]kind[.group]/name`. */
  readonly text: string;
  readonly cluster?: string;
  readonly namespace?: string;
  /** Lower-case singular. */
  readonly kind: string;
  /** The kind's API group, also where `text` leaves it out; empty for the core group. */
  readonly group: string;
  readonly name: string;
}

/** A branch of a repository: `git:gitlab.example.com/42@main`. */
export interface RepositoryTarget {
  readonly type: "repository";
  /** `git:host/path@branch`, where the path is the numeric project id if that is known. */
  readonly text: string;
  readonly host: string;
  readonly path: string;
  readonly branch: string;
}

/** A problem is a sentence without its subject, such as "is not a kind …"; callers put the text or a field's name before it. */
export type TargetReading<T extends Target = Target> = { readonly kind: "target"; readonly target: T } | TargetProblem;

export interface TargetProblem {
  readonly kind: "problem";
  readonly problem: string;
  /** The target would be valid if its kind were known. */
  readonly unknownKind?: true;
}

/** In characters: a cluster, a namespace, a kind with its group and a name, each of the maximum length of Kubernetes. */
export const maxTargetLength = 1_024;

export function problem(sentence: string): TargetProblem {
  return { kind: "problem", problem: sentence };
}
