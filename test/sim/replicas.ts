import type { SimServer } from "./sim-server.ts";
import { Process, type World } from "./world.ts";

export interface ReplicasOptions {
  readonly name: string;
  readonly count: number;
  /** Starts one in its place, which stays the same over crashes. The returned function is called at its death. */
  readonly start: (process: Process, place: number) => (() => void) | undefined;
  /** Resources of which a change is a bad moment to die. */
  readonly hurry: readonly string[];
  readonly longestPauseMs?: number;
}

/** Processes of one kind, and their faults. A dead one is replaced. */
export class Replicas {
  readonly #world: World;
  readonly #server: SimServer;
  readonly #options: ReplicasOptions;
  readonly #pace: number;
  #alive: { readonly process: Process; readonly place: number; readonly died: (() => void) | undefined }[] = [];
  #hired = 0;
  #trouble = true;

  constructor(world: World, server: SimServer, options: ReplicasOptions) {
    this.#world = world;
    this.#server = server;
    this.#options = options;
    this.#pace = world.chance.between(300, 6_000);
    for (let place = 0; place < options.count; place++) this.#hire(place);
    this.#planTrouble();
    const rushed = world.chance.happens(0.5) ? world.chance.between(0, 0.05) : 0;
    for (const resource of options.hurry) server.cluster.witness(resource, () => this.#perhapsAtOnce(rushed));
  }

  heal(): void {
    this.#trouble = false;
  }

  #hire(place: number) {
    const { chance } = this.#world;
    const process = new Process(this.#world, `${this.#options.name}-${this.#hired++}`, {
      offsetMs: chance.between(-3_600_000, 3_600_000),
      rate: 1 + chance.between(-0.002, 0.002),
    });
    this.#world.struck("clock skew and drift");
    this.#alive.push({ process, place, died: this.#options.start(process, place) });
  }

  #planTrouble() {
    this.#world.in(this.#pace * this.#world.chance.between(0.2, 2), () => {
      if (!this.#trouble) return;
      this.#strike();
      this.#planTrouble();
    });
  }

  /** The worst moment to stop is right after something was written, before its answer. */
  #perhapsAtOnce(odds: number) {
    if (!this.#trouble || !this.#world.chance.happens(odds)) return;
    this.#world.in(this.#world.chance.between(0, 10), () => {
      if (this.#trouble) this.#strike();
    });
  }

  #strike() {
    const { chance } = this.#world;
    const victim = chance.pick(this.#alive);
    const kind = chance.whole(0, 9);
    if (kind <= 3) {
      this.#world.struck("pause");
      victim.process.pause(chance.between(1, chance.happens(0.3) ? (this.#options.longestPauseMs ?? 30_000) : 3_000));
    } else if (kind <= 5) {
      this.#world.struck("crash");
      victim.process.kill();
      victim.died?.();
      this.#alive = this.#alive.filter((replica) => replica !== victim);
      const afterMs = chance.between(1, 3_000);
      if (this.#alive.length === 0) this.#hire(victim.place);
      else this.#world.in(afterMs, () => this.#hire(victim.place));
    } else this.#server.falter();
  }
}
