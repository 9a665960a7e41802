import type { Process, World } from "./world.ts";

export interface NetworkOptions {
  readonly timeoutMs: number;
  /** Makes what a caller sees that got no answer. */
  readonly timedOut: () => Error;
  /** Whether a request may arrive twice though it was sent once. */
  readonly doubles?: boolean;
}

type Fault = "slow" | "requestLost" | "replyLost" | "twice";

/**
 * The way from processes to a store and back, one call at a time: it may be late, lost on its way or on the way back,
 * or arrive twice. Each seed draws its own mix of faults, so that rare combinations are common in some run.
 */
export class Network {
  readonly world: World;
  readonly #odds: Readonly<Record<Fault, number>>;
  readonly #timeoutMs: number;
  readonly #timedOut: () => Error;
  #faulty = true;
  #silentUntil = 0;

  constructor(world: World, { timeoutMs, timedOut, doubles = true }: NetworkOptions) {
    this.world = world;
    this.#timeoutMs = timeoutMs;
    this.#timedOut = timedOut;
    const { chance } = world;
    const odds = (most: number) => (chance.happens(0.5) ? chance.between(0, most) : 0);
    this.#odds = { slow: odds(0.1), requestLost: odds(0.06), replyLost: odds(0.06), twice: doubles ? odds(0.1) : 0 };
  }

  /** The store takes nothing in for a while. */
  silence(ms: number): void {
    this.#silentUntil = this.world.now + ms;
  }

  heal(): void {
    this.#faulty = false;
    this.#silentUntil = 0;
  }

  call<T>(process: Process, apply: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let over = false;
      const end = (settle: () => void) => {
        if (over) return;
        over = true;
        timer.cancel();
        settle();
      };
      const timer = process.clock.after(this.#timeoutMs, () => end(() => reject(this.#timedOut())));
      if (this.#strikes("requestLost", "request lost")) return;
      this.world.in(this.delay(), () => {
        if (this.world.now < this.#silentUntil) return;
        const replyLost = this.#strikes("replyLost", "reply lost");
        const answer = (settle: () => void) => {
          if (!replyLost) this.world.in(this.delay(), () => process.handle(() => end(settle)));
        };
        if (this.#strikes("twice", "request duplicated")) {
          this.world.in(this.delay(), () => void apply().catch(() => {}));
        }
        apply().then(
          (result) => answer(() => resolve(result)),
          (error) => answer(() => reject(error)),
        );
      });
    });
  }

  delay(): number {
    const { chance } = this.world;
    return this.#strikes("slow", "delayed message") ? chance.between(5, 6_000) : chance.between(0.05, 5);
  }

  #strikes(fault: Fault, name: string): boolean {
    if (!this.#faulty || !this.world.chance.happens(this.#odds[fault])) return false;
    this.world.struck(name);
    return true;
  }
}
