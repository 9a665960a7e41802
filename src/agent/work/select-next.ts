import type { CodingTask } from "../../resources/index.ts";
import { byCreation } from "../queue.ts";

/**
 * Returns the task to start next: of the project with the fewest running tasks, the one that came first. So a project
 * with many tasks does not delay the others.
 */
export function selectNext(ready: readonly CodingTask[], running: readonly CodingTask[]): CodingTask | undefined {
  const load = (task: CodingTask) => running.filter((other) => projectKey(other) === projectKey(task)).length;
  return [...ready].sort((a, b) => load(a) - load(b) || byCreation(a, b))[0];
}

function projectKey({ spec }: CodingTask): string {
  return `${spec.project.host}/${spec.project.id}`;
}
