import type { Key } from "../../src/coordination/index.ts";

/** An implementation that takes part in the comparison. */
export interface Entry {
  readonly name: string;
  /** The commands it sends. Whatever else Redis counts ran inside its scripts. */
  readonly sends: readonly string[];
  /** On a connection of its own. */
  open(url: string): Promise<Contender>;
}

export interface Contender {
  /** Waits as long as it takes. */
  acquire(key: Key): Promise<Held>;
  close(): Promise<void>;
}

export interface Held {
  release(): PromiseLike<unknown>;
}

/** The lease of all contenders. Nothing in the benchmark is held for as long. */
export const ttlMs = 10_000;

/** Longer than any contender ever waits. */
export const waitMs = 600_000;
