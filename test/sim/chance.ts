import type { Random } from "../../src/time/index.ts";

/** Repeatable chance: the same seed gives the same run. (mulberry32) */
export class Chance implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  id(): string {
    let id = "";
    while (id.length < 12)
      id += Math.floor(this.fraction() * 36 ** 6)
        .toString(36)
        .padStart(6, "0");
    return id.slice(0, 12);
  }

  happens(probability: number): boolean {
    return this.fraction() < probability;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.fraction();
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.fraction() * items.length)] as T;
  }
}
