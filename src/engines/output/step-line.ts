import type { Clock } from "../../time/index.ts";

/** One line of a step's output. */
export interface StepLine {
  readonly task: string;
  /** Counted from 1; greater than 1 for a retry of the task. */
  readonly attempt: number;
  readonly step: string;
  readonly text: string;
}

/** Prints one line. The next one is read when the result resolves. */
export type PrintLine = (line: StepLine) => void | Promise<void>;

/** Selects lines. */
export interface LineFilter {
  readonly task?: string;
  readonly step?: string;
  /** The maximum number of existing lines of each step. Lines that are written later are not limited. */
  readonly tail?: number;
  /** In milliseconds since 1970. */
  readonly sinceMs?: number;
}

/** The options of following output that all engines share. */
export interface FollowStepsOptions {
  readonly filter: LineFilter;
  readonly clock: Clock;
  /** Stops at once when it aborts. */
  readonly signal: AbortSignal;
  readonly print: PrintLine;
}

export function isWantedStep({ task, step }: Pick<StepLine, "task" | "step">, filter: LineFilter): boolean {
  return (filter.task ?? task) === task && (filter.step ?? step) === step;
}
