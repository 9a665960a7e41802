import type { Key } from "../../src/coordination/key.ts";
import type { LockStore } from "../../src/coordination/locks/lock-store.ts";
import type { LockTableOptions } from "../../src/coordination/locks/lock-table.ts";
import type { Ability, ClientOptions, LockBench } from "../../src/coordination/locks/locks.contract.ts";
import type { Guarantee, Locks } from "../../src/coordination/locks/locks.ts";
import type { LockLink } from "../../src/coordination/redis/lock-link.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { ProcessClock } from "../doubles/process-clock.ts";
import { Chance } from "../sim/chance.ts";
import { Wire } from "./wire.ts";

/** One client process on virtual time. */
export interface VirtualProcess {
  readonly wire: Wire;
  /** What its locks are made with. */
  readonly options: LockTableOptions & { readonly clock: ProcessClock; readonly who: string };
}

/** Deliberate defects of locks, to show that the suite finds them. Absent members are correct. */
export interface Spoilt {
  readonly options?: (options: VirtualProcess["options"]) => VirtualProcess["options"];
  readonly locks?: (locks: Locks, process: VirtualProcess) => Locks;
  readonly store?: (store: LockStore, process: VirtualProcess) => LockStore;
  readonly client?: (client: KubeClient, process: VirtualProcess) => KubeClient;
  readonly link?: (link: LockLink, process: VirtualProcess) => LockLink;
}

export interface VirtualBenchOptions {
  readonly spoilt?: Spoilt;
  readonly manyKeys?: number;
}

/** What a kind of store adds to a bench on virtual time. */
export interface VirtualBackend {
  readonly abilities: readonly Ability[];
  readonly guarantee: Guarantee;
  open(process: VirtualProcess): Locks;
  holderOf?(key: Key): Promise<string | undefined>;
  deleteStored?(key: Key): Promise<void>;
  occupy?(key: Key): Promise<void>;
  damage?(key: Key): Promise<void>;
  forbid?(verb: "create" | "update"): void;
}

export interface VirtualBench extends LockBench {
  /** Time is being moved: whatever waits for it is not stuck. */
  readonly moving: boolean;
}

const ttlMs = 6_000;
const timeoutMs = 2_000;

/** A bench with manual time, so that a case takes no longer than its work. */
export function virtualBench(
  makeBackend: (clock: ManualClock) => VirtualBackend,
  { spoilt = {}, manyKeys = 5_000 }: VirtualBenchOptions = {},
): VirtualBench {
  const clock = new ManualClock();
  const backend = makeBackend(clock);
  const processes = new Map<Locks, VirtualProcess>();
  const chance = new Chance(7);
  let moving = false;

  function makeProcess(who: string, { skewMs = 0, events = {} }: ClientOptions = {}): VirtualProcess {
    const processClock = new ProcessClock(clock, { skewMs });
    const defaults = { ttlMs, waitMs: 3_600_000 };
    const options = { clock: processClock, random: chance, who, events, defaults };
    return { wire: new Wire(processClock, timeoutMs), options: spoilt.options?.(options) ?? options };
  }
  const of = (client: Locks) => processes.get(client) as VirtualProcess;
  return {
    ...backend,
    ttlMs,
    timeoutMs,
    manyKeys,
    get moving() {
      return moving;
    },
    async client(options) {
      const process = makeProcess(`test/pod/${processes.size + 1}`, options);
      const whole = backend.open(process);
      const locks = spoilt.locks?.(whole, process) ?? whole;
      processes.set(locks, process);
      await settle();
      return locks;
    },
    wallMs: () => clock.wallMs(),
    async advance(ms) {
      moving = true;
      await clock.advance(ms);
      moving = false;
    },
    settle,
    quiet: () => clock.advance(100),
    pause: (client) => of(client).options.clock.pause(),
    resume: (client) => of(client).options.clock.resume(),
    vanish(client) {
      of(client).wire.sever();
      of(client).options.clock.crash();
    },
    sever: (client) => of(client).wire.sever(),
    refuse: async (client) => of(client).wire.refuse(),
    slowReplies: (client, ms) => of(client).wire.slow(ms),
    loseNextReply: (client) => of(client).wire.loseNextReply(),
    deafen: (client) => of(client).wire.deafen(),
    heal: (client) => of(client).wire.heal(),
    requests: (client) => of(client).wire.requests,
    holderOf: backend.holderOf ?? unable,
    deleteStored: backend.deleteStored ?? unable,
    occupy: backend.occupy ?? unable,
    damage: backend.damage ?? unable,
    forbid: backend.forbid ?? unable,
    async close() {
      for (const { options } of processes.values()) options.clock.crash();
    },
  };
}

function unable(): never {
  throw new TypeError("this backend does not claim to be able to do that");
}
