/** Chance that repeats itself when given the same seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). The generator is mulberry32. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.fraction();
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new TypeError("nothing to pick from");
    return from[Math.floor(this.fraction() * from.length)] as T;
  }

  /** A seed for dice of their own. */
  seed(): number {
    return this.whole(0, 2 ** 32 - 1);
  }
}
