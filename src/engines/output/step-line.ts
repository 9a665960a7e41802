import type { Clock } from "../../time/index.ts";

/** One line of a step's output. */
export interface StepLine {
  readonly task: string;
  /** Counted from 1; more than one if the task was tried again. */
  readonly attempt: number;
  readonly step: string;
  readonly text: string;
}

/** Takes one line. The next one is read when it has been taken. */
export type PrintLine = (line: StepLine) => void | Promise<void>;

/** Which lines are wanted. */
export interface LineFilter {
  readonly task?: string;
  readonly step?: string;
  /** Of each step, only so many of the lines that are there when it is first read. */
  readonly tail?: number;
  /** In milliseconds since 1970. */
  readonly sinceMs?: number;
}

/** How the output of steps is followed, whatever runs them. */
export interface FollowStepsOptions {
  readonly filter: LineFilter;
  readonly clock: Clock;
  /** Ends everything at once. */
  readonly signal: AbortSignal;
  readonly print: PrintLine;
}

export function isWantedStep({ task, step }: Pick<StepLine, "task" | "step">, filter: LineFilter): boolean {
  return (filter.task ?? task) === task && (filter.step ?? step) === step;
}
