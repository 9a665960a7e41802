import { parseDuration } from "../../../time/index.ts";
import { findParents, neededResults } from "../pipeline/dependencies.ts";
import { allTasks, type PipelineTask } from "../pipeline/spec.ts";
import { attemptOutcome } from "./attempt-outcome.ts";
import type { Attempt, RunSnapshot, StopReason } from "./run-snapshot.ts";
import { isMet, type ValueSource, withDefaults } from "./values.ts";

/** An action of the runner. Safe to repeat. */
export type StepAction =
  | { readonly do: "start-step"; readonly task: string; readonly attempt: number; readonly step: number }
  | { readonly do: "stop"; readonly task: string; readonly attempt: number; readonly why: StopReason };

export type TaskView =
  | { readonly kind: "waiting" }
  | { readonly kind: "running" }
  | { readonly kind: "succeeded"; readonly at: number }
  | { readonly kind: "failed"; readonly at: number }
  | { readonly kind: "skipped"; readonly reason: string };

export type RunView =
  | { readonly kind: "running" }
  | { readonly kind: "cancelled" | "timed-out" | "finished" }
  /** A task cannot begin because a result that it needs was not written. */
  | { readonly kind: "broken"; readonly message: string };

export interface ScheduleDecision {
  readonly actions: readonly StepAction[];
  readonly tasks: ReadonlyMap<string, TaskView>;
  readonly run: RunView;
  /** The next deadline: the time of the next decision if no event comes before. */
  readonly wakeAt?: number;
}

/**
 * Decides the next actions of a run, and the state of the run and its tasks:
 *
 *     tasks, each after its parents ──▶ finally, all at once, when no task is left ──▶ the end
 *
 * After a failed task no further task begins, but running tasks continue. `Cancelled` and the timeout of the run stop
 * everything, `finally` included; `CancelledRunFinally` and the timeout of the tasks stop the tasks.
 */
export function decide(snapshot: RunSnapshot): ScheduleDecision {
  const schedule = new Schedule(snapshot);
  for (const task of snapshot.pipeline.tasks) schedule.view(task);
  if (schedule.isOver(snapshot.pipeline.tasks)) for (const task of snapshot.pipeline.finally ?? []) schedule.view(task);
  return schedule.decision();
}

/** Returns the values of variables at this point of the run. */
export function valueSource(snapshot: RunSnapshot, tasks: Pick<ScheduleDecision["tasks"], "get">): ValueSource {
  const { pipeline, attempts } = snapshot;
  const taskStatus = (name: string) => {
    const kind = tasks.get(name)?.kind;
    if (kind === "succeeded") return "Succeeded";
    return kind === "failed" ? "Failed" : "None";
  };
  return {
    params: withDefaults(pipeline.params ?? [], snapshot.params),
    result: (task, name) => {
      if (tasks.get(task)?.kind !== "succeeded") return undefined;
      return attempts.get(task)?.at(-1)?.results[name];
    },
    status(task) {
      if (task !== undefined) return taskStatus(task);
      const all = pipeline.tasks.map(({ name }) => taskStatus(name));
      if (all.includes("Failed")) return "Failed";
      if (!all.includes("Succeeded")) return "None";
      return all.includes("None") ? "Completed" : "Succeeded";
    },
    context(path) {
      const [of, field] = path.split(".");
      if (of === "pipelineRun") return snapshot.run[field as keyof RunSnapshot["run"]];
      return of === "pipeline" ? snapshot.run.name : "";
    },
  };
}

class Schedule {
  readonly #snapshot: RunSnapshot;
  readonly #source: ValueSource;
  readonly #views = new Map<string, TaskView>();
  readonly #actions: StepAction[] = [];
  readonly #deadlines: number[] = [];
  readonly #isLast: ReadonlySet<string>;
  #broken: string | undefined;

  constructor(snapshot: RunSnapshot) {
    this.#snapshot = snapshot;
    this.#isLast = new Set(snapshot.pipeline.finally?.map(({ name }) => name));
    this.#source = valueSource(snapshot, { get: (name) => this.#findView(name) });
  }

  view(task: PipelineTask): TaskView {
    const seen = this.#views.get(task.name);
    if (seen) return seen;
    const attempts = this.#snapshot.attempts.get(task.name) ?? [];
    const view = attempts.length > 0 ? this.#begun(task, attempts) : this.#notBegun(task);
    this.#views.set(task.name, view);
    return view;
  }

  isOver(tasks: readonly PipelineTask[]): boolean {
    return tasks.every(({ name }) => !["waiting", "running", undefined].includes(this.#views.get(name)?.kind));
  }

  decision(): ScheduleDecision {
    const { now } = this.#snapshot;
    // The actions of deadlines that have passed are among `#actions`.
    const wakeAt = Math.min(...this.#deadlines.filter((at) => at > now));
    const run = this.#run();
    return {
      actions: run.kind === "running" ? this.#actions : [],
      tasks: this.#views,
      run,
      ...(Number.isFinite(wakeAt) && { wakeAt }),
    };
  }

  #run(): RunView {
    const { pipeline } = this.#snapshot;
    const all = allTasks(pipeline);
    const isRunning = [...this.#views.values()].some(({ kind }) => kind === "running");
    if (isRunning) return { kind: "running" };
    const wasStopped = all.some(({ name }) => this.#stoppedBy(name, "cancelled"));
    const isComplete = this.isOver(all);
    if (this.#snapshot.asked !== undefined && (wasStopped || this.#skippedByRequest() || !isComplete)) {
      if (this.#snapshot.asked === "Cancelled" || isComplete) return { kind: "cancelled" };
    }
    if (this.#runIsLate() && !isComplete) return { kind: "timed-out" };
    if (!isComplete) return { kind: "running" };
    if (this.#broken !== undefined) return { kind: "broken", message: this.#broken };
    return this.#runIsLate() && all.some(({ name }) => this.#stoppedBy(name, "run-timeout"))
      ? { kind: "timed-out" }
      : { kind: "finished" };
  }

  #begun(task: PipelineTask, attempts: readonly Attempt[]): TaskView {
    const number = attempts.length - 1;
    const attempt = attempts[number] as Attempt;
    const outcome = attemptOutcome(task, attempt);
    const why = this.#whyStop(task, attempt);
    if (outcome.kind === "succeeded") return outcome;
    if (outcome.kind === "failed") {
      const isStopped = why !== undefined && why !== "timeout";
      if (!outcome.mayRetry || number >= (task.retries ?? 0) || isStopped) return { kind: "failed", at: outcome.at };
      this.#startStep(task, number + 1, 0);
      return { kind: "running" };
    }

    if (why && !attempt.stop) this.#actions.push({ do: "stop", task: task.name, attempt: number, why });
    else if (outcome.kind === "next-step") this.#startStep(task, number, outcome.index);
    return { kind: "running" };
  }

  #notBegun(task: PipelineTask): TaskView {
    if (this.#isLast.has(task.name)) return this.#begin(task, this.#whySkipLast(task));
    const parents = [...findParents(task)];
    for (const name of parents) this.#findView(name);
    if (this.#stopsEverything()) return { kind: "waiting" };

    const stopping = this.#whyNoMoreTasks();
    if (stopping) return { kind: "skipped", reason: stopping };
    if (!this.isOver(this.#snapshot.pipeline.tasks.filter(({ name }) => parents.includes(name))))
      return { kind: "waiting" };
    return this.#begin(task, this.#whySkip(task, parents));
  }

  #begin(task: PipelineTask, skip: string | undefined): TaskView {
    if (skip) return { kind: "skipped", reason: skip };
    if (this.#stopsEverything()) return { kind: "waiting" };
    this.#startStep(task, 0, 0);
    return { kind: "running" };
  }

  #whySkip(task: PipelineTask, parents: readonly string[]): string | undefined {
    const skipped = (name: string) => {
      const view = this.#findView(name);
      return view?.kind === "skipped" ? view.reason : undefined;
    };
    if (parents.some((name) => (skipped(name) ?? skips.when) !== skips.when)) return skips.parents;
    const missing = this.#missingResult(task);
    if (missing && skipped(missing.task)) return skips.results;
    if (missing) {
      this.#broken = `${JSON.stringify(task.name)} cannot begin: the task "${missing.task}" has not written its result "${missing.name}"`;
      return skips.results;
    }
    return this.#isWanted(task) ? undefined : skips.when;
  }

  #whySkipLast(task: PipelineTask): string | undefined {
    if (this.#missingResult(task)) return skips.results;
    if (!this.#isWanted(task)) return skips.when;
    return isPast(this.#finallyDeadline(), this.#snapshot.now) ? skips.finallyTime : undefined;
  }

  #whyNoMoreTasks(): string | undefined {
    const { asked, now } = this.#snapshot;
    const hasFailed = this.#snapshot.pipeline.tasks.some(
      ({ name }) => this.#snapshot.attempts.has(name) && this.#findView(name)?.kind === "failed",
    );
    if (hasFailed || this.#broken !== undefined) return skips.stopping;
    if (asked === "CancelledRunFinally") return skips.cancelled;
    if (asked === "StoppedRunFinally") return skips.stopped;
    return isPast(this.#tasksDeadline(), now) ? skips.tasksTime : undefined;
  }

  /** Returns why an attempt has to be stopped now: by the run before its own timeout. */
  #whyStop(task: PipelineTask, attempt: Attempt): StopReason | undefined {
    const { asked, now } = this.#snapshot;
    const isLast = this.#isLast.has(task.name);
    if (asked === "Cancelled" || (asked === "CancelledRunFinally" && !isLast)) return "cancelled";
    const time = isLast ? this.#finallyDeadline() : this.#tasksDeadline();
    if (this.#runIsLate() || isPast(time, now)) return "run-timeout";
    const own = after(attempt.startedAt, parseLimit(task.timeout));
    this.#deadlines.push(...[this.#runDeadline(), time, own].filter((at) => at !== undefined));
    return isPast(own, now) ? "timeout" : undefined;
  }

  #startStep({ name }: PipelineTask, attempt: number, step: number) {
    this.#actions.push({ do: "start-step", task: name, attempt, step });
  }

  #findView(name: string): TaskView | undefined {
    const task = allTasks(this.#snapshot.pipeline).find((other) => other.name === name);
    return task && this.view(task);
  }

  #missingResult(task: PipelineTask) {
    return neededResults(task).find((result) => this.#source.result(result.task, result.name) === undefined);
  }

  #isWanted({ when = [] }: PipelineTask): boolean {
    return when.every((expression) => isMet(expression, this.#source));
  }

  #stoppedBy(name: string, why: StopReason): boolean {
    return this.#views.get(name)?.kind === "failed" && this.#snapshot.attempts.get(name)?.at(-1)?.stop?.why === why;
  }

  #skippedByRequest(): boolean {
    return [...this.#views.values()].some(
      (view) => view.kind === "skipped" && (view.reason === skips.cancelled || view.reason === skips.stopped),
    );
  }

  #stopsEverything(): boolean {
    return this.#snapshot.asked === "Cancelled" || this.#runIsLate();
  }

  #runIsLate(): boolean {
    return isPast(this.#runDeadline(), this.#snapshot.now);
  }

  #runDeadline(): number | undefined {
    return after(this.#snapshot.startedAt, this.#snapshot.timeouts.pipelineMs);
  }

  /** Without a timeout of its own, the tasks have the time that `finally` does not need. */
  #tasksDeadline(): number | undefined {
    const { pipelineMs, tasksMs, finallyMs } = this.#snapshot.timeouts;
    if (tasksMs !== undefined) return after(this.#snapshot.startedAt, tasksMs);
    return finallyMs && pipelineMs ? after(this.#snapshot.startedAt, pipelineMs - finallyMs) : undefined;
  }

  #finallyDeadline(): number | undefined {
    const starts = [...this.#isLast].flatMap((name) => this.#snapshot.attempts.get(name)?.[0]?.startedAt ?? []);
    return starts.length > 0 ? after(Math.min(...starts), this.#snapshot.timeouts.finallyMs ?? 0) : undefined;
  }
}

/** The reasons in Tekton's own words. */
const skips = {
  stopping: "PipelineRun was stopping",
  cancelled: "PipelineRun was gracefully cancelled",
  stopped: "PipelineRun was gracefully stopped",
  parents: "Parent Tasks were skipped",
  results: "Results were missing",
  when: "When Expressions evaluated to false",
  tasksTime: "PipelineRun Tasks timeout has been reached",
  finallyTime: "PipelineRun Finally timeout has been reached",
} as const;

/** Returns the milliseconds of one of Tekton's durations; 0 means no limit. */
export function parseLimit(text: string | undefined): number {
  return text === undefined || text === "0" ? 0 : (parseDuration(text) ?? 0);
}

function after(start: number, limitMs: number): number | undefined {
  return limitMs > 0 ? start + limitMs : undefined;
}

function isPast(at: number | undefined, now: number): boolean {
  return at !== undefined && now >= at;
}
