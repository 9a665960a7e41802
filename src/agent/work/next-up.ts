import type { CodingTask } from "../../resources/index.ts";
import { inOrder } from "../snapshot.ts";

/**
 * Returns the task to start next: of the project with the fewest running tasks, the one that came first. So a project
 * with many tasks does not delay the others.
 */
export function nextUp(ready: readonly CodingTask[], running: readonly CodingTask[]): CodingTask | undefined {
  const load = (task: CodingTask) => running.filter((other) => projectOf(other) === projectOf(task)).length;
  return [...ready].sort((a, b) => load(a) - load(b) || inOrder(a, b))[0];
}

function projectOf({ spec }: CodingTask): string {
  return `${spec.project.host}/${spec.project.id}`;
}
