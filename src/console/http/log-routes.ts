import { followExecution } from "../../engines/index.ts";
import { workflowExecutions } from "../../resources/index.ts";
import { z } from "../../schema/index.ts";
import type { Clock, Random } from "../../time/index.ts";
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
export function logRoutes({ localRuns: local, ...options }: LogRouteDeps): readonly ApiRoute[] {
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
        const { client, podLogs } = call.viewer;
        const execution = await client.get(workflowExecutions, call.params as z.output<typeof named>);
        if (!execution) throw new ProblemError(404, "There is no such execution.");
        const { tail } = call.query as z.output<typeof logQuery>;
        const filter = tail === undefined ? {} : { tail };
        const follow = (output: LogOutput) =>
          followExecution(execution, { ...options, ...output, client, podLogs, local, filter });
        await sendEvents(call, options.clock, logEvents(follow, options.clock));
      },
    },
  ];
}
