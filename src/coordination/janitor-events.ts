/** The number of unused records that were removed. */
export interface Swept {
  readonly locks: number;
  readonly claims: number;
}

/** Events of a backend that removes its unused records. */
export interface JanitorEvents {
  swept?(removed: Swept): void;
  /** Tried again at the next sweep. */
  failed?(error: unknown): void;
}
