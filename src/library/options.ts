import type { Clock } from "../time/clock.ts";
import type { Random } from "../time/random.ts";

/** The options of every primitive. In a file of its own, so that its declaration names no vendor library. */
export interface OpenOptions {
  /** Names this process as a holder, for display to others. Default: host and process id. */
  readonly who?: string;
  /** Called when Redis is lost or cannot be reached, with a message that is safe to log. */
  readonly onProblem?: (message: string) => void;
  /** Default: that of the machine. */
  readonly clock?: Clock;
  /** Default: that of the machine. */
  readonly random?: Random;
  /** For `KUBECONFIG`, the variables of a pod, and exec plugins. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}
