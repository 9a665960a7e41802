interface GraphTask {
  readonly name: string;
  readonly after: readonly string[];
  readonly steps: readonly unknown[];
}

export const taskWidth = 190;
const columnGap = 48;
const rowGap = 16;
const headHeight = 34;
const stepHeight = 22;
const stepsPadding = 8;

/** Tasks in columns, each to the right of its dependencies, with an SVG path for each dependency. */
export function layoutGraph<T extends GraphTask>(tasks: readonly T[]) {
  const columns = taskColumns(tasks);
  const nextY = new Map<number, number>();
  const placed = tasks.map((task) => {
    const column = columns.get(task.name) ?? 0;
    const y = nextY.get(column) ?? 0;
    const height = headHeight + (task.steps.length > 0 ? task.steps.length * stepHeight + stepsPadding : 0);
    nextY.set(column, y + height + rowGap);
    return { task, x: column * (taskWidth + columnGap), y, height };
  });
  const byName = new Map(placed.map((place) => [place.task.name, place]));
  const edges = placed.flatMap((to) =>
    to.task.after.flatMap((name) => {
      const from = byName.get(name);
      return from ? { from: name, to: to.task.name, path: edgePath(from, to) } : [];
    }),
  );
  return {
    tasks: placed,
    edges,
    width: Math.max(0, ...placed.map(({ x }) => x + taskWidth)),
    height: Math.max(0, ...placed.map(({ y, height }) => y + height)),
  };
}

/** The column of each task: the length of the longest path to it. A task of a cycle, which no engine accepts, is in the first. */
function taskColumns(tasks: readonly GraphTask[]): ReadonlyMap<string, number> {
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const columns = new Map<string, number>();
  const visit = (name: string, path: ReadonlySet<string>): number => {
    const known = columns.get(name);
    if (known !== undefined) return known;
    const task = byName.get(name);
    if (!task || path.has(name)) return -1;
    const before = task.after.map((other) => visit(other, new Set(path).add(name)));
    const column = Math.max(-1, ...before) + 1;
    columns.set(name, column);
    return column;
  };
  for (const { name } of tasks) visit(name, new Set());
  return columns;
}

interface Box {
  readonly x: number;
  readonly y: number;
}

/** From the right side of one task's head to the left side of the other's. */
function edgePath(from: Box, to: Box): string {
  const [x1, y1] = [from.x + taskWidth, from.y + headHeight / 2];
  const [x2, y2] = [to.x, to.y + headHeight / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
