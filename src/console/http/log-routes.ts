import { followExecution } from "../../engines/index.ts";
import { type WorkflowExecution, workflowExecutions } from "../../resources/index.ts";
import { z } from "../../schema/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import type { Viewer } from "../identity/identity.ts";
import { type ApiRoute, ProblemError } from "./api-route.ts";
import { sendEvents } from "./event-stream.ts";
import { type LogOutput, logEvents } from "./log-events.ts";
import { named } from "./schemas.ts";

export interface LogRouteDeps {
  /** The namespace of runs. */
  readonly runsIn: string;
  /** Where the local engine keeps its runs; undefined if it has none that viewers may read. */
  readonly localRuns?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

const logQuery = z.strictObject({
  tail: z.coerce
    .number()
    .int()
    .min(0)
    .meta({ description: "The maximum number of lines of each step that are already there." })
    .optional(),
});

/** The output of executions, with the rights of the viewer. */
export function logRoutes(deps: LogRouteDeps): readonly ApiRoute[] {
  return [
    {
      method: "GET",
      path: "/api/v1/executions/:namespace/:name/logs",
      summary: "The output of an execution as it is written, until it has ended.",
      access: "viewer",
      params: named,
      query: logQuery,
      result: { line: "LogLine", problem: "LogProblem", end: "nothing" },
      problems: { 404: "There is no such execution." },
      async handle(call) {
        const { viewer, params, query } = call;
        const execution = await viewer.client.get(workflowExecutions, params as z.output<typeof named>);
        if (!execution) throw new ProblemError(404, "There is no such execution.");
        const { tail } = query as z.output<typeof logQuery>;
        const filter = tail === undefined ? {} : { tail };
        const follow = (output: LogOutput) => followAs(viewer, execution, { ...deps, ...output, filter });
        await sendEvents(call, deps.clock, logEvents(follow, deps.clock));
      },
    },
  ];
}

type FollowOptions = LogRouteDeps & LogOutput & { readonly filter: { readonly tail?: number } };

async function followAs(viewer: Viewer, execution: WorkflowExecution, options: FollowOptions): Promise<void> {
  const { client, podLogs } = viewer;
  const { localRuns: local, ...rest } = options;
  await followExecution(execution, { ...rest, client, podLogs, local });
}
