/** How much to look at. */
export interface Plan {
  readonly rounds: number;
  /** Events per round, appended to the journal. */
  readonly journalEvents: number;
  /** Events per round that wait in a journal when PostgreSQL comes. */
  readonly drainEvents: number;
  /** Events that wait after a long outage. The figure is for 1,000,000; from fewer it is worked out. */
  readonly catchUpEvents: number;
  readonly questions: number;
}

/** Figures of the result, and what bare steps of the same kind take on this machine, in this run. */
export interface Measured {
  readonly figures: Readonly<Record<string, number>>;
  readonly calibration: Readonly<Record<string, number>>;
}

/** `quick` ends within 50 s on two cores. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: { rounds: 3, journalEvents: 15_000, drainEvents: 8_000, catchUpEvents: 30_000, questions: 100 },
  full: { rounds: 7, journalEvents: 100_000, drainEvents: 50_000, catchUpEvents: 1_000_000, questions: 1_000 },
};
