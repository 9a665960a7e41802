import type { ObjectFacts } from "../../resources/index.ts";

/** The state of the objects behind an incident, as it was read for the diagnosis. */
export interface Facts {
  /** What the signal named, such as a Pod. */
  readonly object: FactsReading;
  /** The end of its chain of owners, such as a Deployment: the incident's subject. The object itself if it has no owner. */
  readonly owner: FactsReading;
}

export type FactsReading =
  | { readonly kind: "read"; readonly facts: ObjectFacts }
  /** As the rest of a sentence about the object: "may not be read (403): …". */
  | { readonly kind: "unreadable"; readonly problem: string };

/** Which of the two objects a rule asks about. */
export type FactsOf = keyof Facts;

/** Before anything was read: what a rule asks for is not known yet. */
export const factsNotRead: Facts = {
  object: { kind: "unreadable", problem: "was not read" },
  owner: { kind: "unreadable", problem: "was not read" },
};

/** Why it is not known whether a rule applies. */
export interface Unreadable {
  readonly kind: "unreadable";
  readonly problem: string;
}
