/** How many records were removed because nobody needed them any more. */
export interface Swept {
  readonly locks: number;
  readonly claims: number;
}

/** What a backend that has to clean up after itself tells of it. */
export interface JanitorEvents {
  swept?(removed: Swept): void;
  /** Tried again at the next sweep. */
  failed?(error: unknown): void;
}
