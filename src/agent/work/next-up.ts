import type { CodingTask } from "../../resources/index.ts";
import { inOrder } from "../snapshot.ts";

/**
 * Which of the tasks whose turn it is to begin with: that of the project with the fewest at work, and of those the one
 * that came first. A project that asks for much has others wait no longer for it.
 */
export function nextUp(ready: readonly CodingTask[], running: readonly CodingTask[]): CodingTask | undefined {
  const load = (task: CodingTask) => running.filter((other) => projectOf(other) === projectOf(task)).length;
  return [...ready].sort((a, b) => load(a) - load(b) || inOrder(a, b))[0];
}

function projectOf({ spec }: CodingTask): string {
  return `${spec.project.host}/${spec.project.id}`;
}
