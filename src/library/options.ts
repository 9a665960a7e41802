import type { Clock } from "../time/clock.ts";
import type { Random } from "../time/random.ts";

/** What every primitive can be opened with. */
export interface OpenOptions {
  /** Names this process where others meet it as a holder. Default: host and process id. */
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
