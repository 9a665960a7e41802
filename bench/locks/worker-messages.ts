import type { Waiting, WaitingPlan } from "./waiting.ts";

/** What the main process asks of a worker. Each but `take-turn` has one answer. */
export type Request =
  /** Opens the contender of this name, warms it up and answers `done`. Opening it again does nothing. */
  | { readonly do: "open"; readonly contender: string; readonly url: string }
  /** Waits for the lock, sends `acquired`, holds it for `holdMs` and then releases it. */
  | { readonly do: "take-turn"; readonly contender: string; readonly holdMs: number }
  /** Lets turns under way end without holding on, and answers `turns`. */
  | { readonly do: "finish-turns" }
  /** Takes turns in `loops` loops as fast as it can, from `startAt` on the machine's clock for `ms`; answers `turns`. */
  | {
      readonly do: "saturate";
      readonly contender: string;
      readonly loops: number;
      readonly startAt: number;
      readonly ms: number;
    }
  /** Lets 50 callers wait, and answers `waited`. */
  | { readonly do: "wait"; readonly contender: string; readonly url: string; readonly plan: WaitingPlan };

export type Answer =
  | { readonly kind: "done" }
  | { readonly kind: "turns"; readonly turns: Float64Array; readonly cpuMicros: number }
  | { readonly kind: "waited"; readonly waiting: Waiting };

/** What a worker sends. */
export type Message = Answer | { readonly kind: "acquired" } | { readonly kind: "failed"; readonly message: string };
