import type { PipelineTask } from "./spec.ts";
import { findMentions } from "./variables.ts";

/** The texts of a task that are needed before it begins, and that may name results of other tasks. */
function listTexts({ params = [], when = [] }: PipelineTask): readonly string[] {
  return [...params.flatMap(({ value }) => value), ...when.flatMap(({ input, values }) => [input, ...values])];
}

/** The results of other tasks that `task` needs. */
export function neededResults(task: PipelineTask): readonly { readonly task: string; readonly name: string }[] {
  return listTexts(task).flatMap((text) =>
    findMentions(text).flatMap(({ variable }) => (variable?.kind === "result" ? [variable] : [])),
  );
}

/** The tasks that have to end before `task` may begin. */
export function findParents(task: PipelineTask): ReadonlySet<string> {
  return new Set([...(task.runAfter ?? []), ...neededResults(task).map((result) => result.task)]);
}

/** Tasks that wait for one another in a circle, in that order; undefined if there are none. */
export function findCircle(tasks: readonly PipelineTask[]): readonly string[] | undefined {
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const finished = new Set<string>();

  function visit(name: string, path: readonly string[]): readonly string[] | undefined {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    const task = byName.get(name);
    if (!task || finished.has(name)) return undefined;
    for (const parent of findParents(task)) {
      const circle = visit(parent, [...path, name]);
      if (circle) return circle;
    }
    finished.add(name);
    return undefined;
  }

  for (const { name } of tasks) {
    const circle = visit(name, []);
    if (circle) return circle;
  }
  return undefined;
}
