import type { Clock, Timer } from "../../src/time/index.ts";
import { Chance } from "./chance.ts";

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/**
 * True time and everything that will happen in it. One event at a time; after each, every promise settles before the
 * next, so a run is a function of its seed.
 */
export class World {
  readonly chance: Chance;
  /** Fault kind → how often it struck. */
  readonly faults: Map<string, number>;
  now = 0;
  steps = 0;
  readonly #queue: Event[] = [];
  #order = 0;

  constructor(seed: number, faults = new Map<string, number>()) {
    this.chance = new Chance(seed);
    this.faults = faults;
  }

  at(time: number, run: () => void): Timer {
    const event = { at: Math.max(time, this.now), order: this.#order++, run, cancelled: false };
    push(this.#queue, event);
    return {
      cancel() {
        event.cancelled = true;
      },
      setBackground() {},
    };
  }

  in(ms: number, run: () => void): Timer {
    return this.at(this.now + ms, run);
  }

  struck(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** Runs events until `until` (true time), calling `check` after each. */
  async run(until: number, check: () => void): Promise<void> {
    for (let event = this.#queue[0]; event && event.at <= until; event = this.#queue[0]) {
      pop(this.#queue);
      if (event.cancelled) continue;
      this.now = event.at;
      this.steps++;
      event.run();
      await settled();
      check();
    }
    this.now = Math.max(this.now, until);
  }
}

/** Every promise that can settle has settled. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * A process of the simulation: its own clock, which may be wrong and run fast or slow; it can be paused at any moment
 * (its clock goes on) and killed. What arrives while it is paused is handled when it goes on, in order.
 */
export class Process {
  readonly name: string;
  readonly clock: Clock;
  dead = false;
  #pausedUntil = 0;
  #held: (() => void)[] = [];
  readonly #world: World;

  constructor(world: World, name: string, { offsetMs, rate }: { offsetMs: number; rate: number }) {
    this.name = name;
    this.#world = world;
    this.clock = {
      now: () => 1_000_000 + world.now * rate,
      wallMs: () => Math.round(1_700_000_000_000 + offsetMs + world.now * rate),
      after: (delayMs, wake): Timer => world.in(Math.max(0, delayMs) / rate, () => this.handle(wake)),
    };
  }

  get paused(): boolean {
    return this.#world.now < this.#pausedUntil;
  }

  /** Runs `work` in this process: now, when it goes on, or never. */
  handle(work: () => void): void {
    if (this.dead) return;
    if (this.paused) this.#held.push(work);
    else work();
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#world.now + ms);
    this.#world.at(this.#pausedUntil, () => {
      if (this.paused) return;
      const held = this.#held;
      this.#held = [];
      // Timers or sockets first? An event loop that wakes up may see either.
      if (this.#world.chance.happens(0.3)) held.reverse();
      for (const work of held) this.handle(work);
    });
  }

  kill(): void {
    this.dead = true;
    this.#held = [];
  }
}

function before(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Event[], event: Event) {
  let i = heap.push(event) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!before(event, heap[parent] as Event)) break;
    heap[i] = heap[parent] as Event;
    i = parent;
  }
  heap[i] = event;
}

function pop(heap: Event[]) {
  const last = heap.pop() as Event;
  if (heap.length === 0) return;
  let i = 0;
  for (let child = 1; child < heap.length; child = 2 * i + 1) {
    if (child + 1 < heap.length && before(heap[child + 1] as Event, heap[child] as Event)) child++;
    if (!before(heap[child] as Event, last)) break;
    heap[i] = heap[child] as Event;
    i = child;
  }
  heap[i] = last;
}
