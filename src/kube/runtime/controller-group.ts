import { setMaxListeners } from "node:events";
import type { KubeObject } from "../object.ts";
import { Controller, type ControllerOptions, type StopOptions } from "./controller.ts";
import { type Informer, type InformerOptions, informer } from "./informer.ts";

type Shared = Pick<InformerOptions<KubeObject>, "client" | "clock" | "random" | "problem">;

/** The informers and controllers of one stage: they share client, clock and problem report, and stop together. */
export interface ControllerGroup {
  informer<T extends KubeObject, Index extends string = never>(
    options: Omit<InformerOptions<T, Index>, keyof Shared | "signal">,
  ): Informer<T, Index>;
  controller(options: Omit<ControllerOptions, keyof Shared>): Controller;
  /** The handle by which the controllers created so far are stopped. */
  running(options: RunningOptions): RunningControllers;
}

export interface RunningOptions {
  /** Reports the keys that keep failing. */
  readonly stalls: { readonly problem: string | undefined; stop(): Promise<void> };
  /** Ends the work outside of the controllers, after they have stopped. */
  readonly drain?: () => Promise<void>;
}

export interface RunningControllers {
  /** Resolves when all informers have synced and work has begun. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  /** Why stalled objects cannot be reported as such; undefined while they can. */
  readonly problem: string | undefined;
  /** Starts no new work, waits for the work in progress, and stops the informers. */
  stop(options: StopOptions): Promise<void>;
}

export function controllerGroup(shared: Shared): ControllerGroup {
  const stop = new AbortController();
  const controllers: Controller[] = [];
  // Every informer listens to the signal, and Node would report so many listeners as a leak.
  setMaxListeners(0, stop.signal);
  return {
    informer: (options) => informer({ ...shared, ...options, signal: stop.signal }),
    controller(options) {
      const controller = new Controller({ ...shared, ...options });
      controllers.push(controller);
      return controller;
    },
    running: ({ stalls, drain }) => ({
      ready: Promise.all(controllers.map(({ ready }) => ready)).then(() => {}),
      get isReady() {
        return controllers.every(({ isReady }) => isReady);
      },
      get problem() {
        return stalls.problem;
      },
      async stop(options) {
        await Promise.all(controllers.map((controller) => controller.stop(options)));
        await drain?.();
        await stalls.stop();
        stop.abort();
      },
    }),
  };
}
