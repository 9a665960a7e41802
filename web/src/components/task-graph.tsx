import type { ExecutionDetail } from "../../../src/console/wire.ts";
import { layoutGraph, taskWidth } from "../graph.ts";
import { phaseTone } from "../tones.ts";
import { Duration } from "./time.tsx";

type Task = ExecutionDetail["tasks"][number];

/** The tasks of an execution with their steps, each to the right of its dependencies. `endedAt` is that of the execution. */
export function TaskGraph({
  tasks,
  endedAt,
}: {
  readonly tasks: readonly Task[];
  readonly endedAt?: string | undefined;
}) {
  const graph = layoutGraph(tasks);
  return (
    <div class="scroll-x">
      <div class="graph" style={{ width: `${graph.width}px`, height: `${graph.height}px` }}>
        <svg class="graph-edges" width={graph.width} height={graph.height} aria-hidden="true">
          {graph.edges.map(({ from, to, path }) => (
            <path key={`${from} ${to}`} d={path} />
          ))}
        </svg>
        <ul aria-label="Tasks">
          {graph.tasks.map(({ task, x, y, height }) => (
            <li
              key={task.name}
              class="task"
              data-tone={phaseTone(task.phase)}
              style={{ left: `${x}px`, top: `${y}px`, width: `${taskWidth}px`, height: `${height}px` }}
            >
              <TaskContent task={task} endedAt={task.endedAt ?? endedAt} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

const marks: Readonly<Record<string, string>> = { good: "✓", bad: "✕", active: "▸", wait: "…", neutral: "·" };

function TaskContent({ task, endedAt }: { readonly task: Task; readonly endedAt: string | undefined }) {
  return (
    <>
      <div class="task-head">
        <span class="strong" title={task.name}>
          {task.name}
        </span>
        {task.startedAt === undefined ? (
          <span class="muted">{task.phase}</span>
        ) : (
          <Duration from={task.startedAt} to={endedAt} />
        )}
      </div>
      {task.steps.length > 0 && (
        <ul class="steps">
          {task.steps.map((step) => (
            <li key={step.name} data-tone={phaseTone(step.phase)} title={`${step.name}: ${step.phase}`}>
              <span class="step-mark" aria-hidden="true">
                {marks[phaseTone(step.phase)]}
              </span>
              <span class="grow">{step.name}</span>
              <span class="visually-hidden">{step.phase}</span>
              {step.exitCode !== undefined && step.exitCode !== 0 && <span class="number">exit {step.exitCode}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
