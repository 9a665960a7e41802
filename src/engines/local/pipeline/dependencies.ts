import type { PipelineTask } from "./spec.ts";
import { findMentions } from "./variables.ts";

/** Lists the texts of a task in which results of other tasks can be used before it begins. */
function listTexts({ params = [], when = [] }: PipelineTask): readonly string[] {
  return [...params.flatMap(({ value }) => value), ...when.flatMap(({ input, values }) => [input, ...values])];
}

/** Lists the results of other tasks that `task` needs. */
export function neededResults(task: PipelineTask): readonly { readonly task: string; readonly name: string }[] {
  return listTexts(task).flatMap((text) =>
    findMentions(text).flatMap(({ variable }) => (variable?.kind === "result" ? [variable] : [])),
  );
}

/** Finds the tasks that have to end before `task` can begin. */
export function findParents(task: PipelineTask): ReadonlySet<string> {
  return new Set([...(task.runAfter ?? []), ...neededResults(task).map((result) => result.task)]);
}

/** Finds tasks that wait for one another in a cycle, in order; undefined if there are none. */
export function findCycle(tasks: readonly PipelineTask[]): readonly string[] | undefined {
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const finished = new Set<string>();

  function visit(name: string, path: readonly string[]): readonly string[] | undefined {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    const task = byName.get(name);
    if (!task || finished.has(name)) return undefined;
    for (const parent of findParents(task)) {
      const cycle = visit(parent, [...path, name]);
      if (cycle) return cycle;
    }
    finished.add(name);
    return undefined;
  }

  for (const { name } of tasks) {
    const cycle = visit(name, []);
    if (cycle) return cycle;
  }
  return undefined;
}
