import type { ObjectFacts } from "../../resources/index.ts";

/** The state of the objects of an incident at the time of its diagnosis. */
export interface Facts {
  /** The object that the signal names, such as a Pod. */
  readonly object: FactsReading;
  /** The last of its chain of owners, such as a Deployment: the incident's subject. The object itself if it has no owner. */
  readonly owner: FactsReading;
}

export type FactsReading =
  | { readonly kind: "read"; readonly facts: ObjectFacts }
  /** The problem completes a sentence about the object: "may not be read (403): …". */
  | { readonly kind: "unreadable"; readonly problem: string };

export type FactsOf = keyof Facts;

/** The facts before the objects are read. */
export const factsNotRead: Facts = {
  object: { kind: "unreadable", problem: "was not read" },
  owner: { kind: "unreadable", problem: "was not read" },
};

/** Why it is unknown whether a rule applies. */
export interface Unreadable {
  readonly kind: "unreadable";
  readonly problem: string;
}
