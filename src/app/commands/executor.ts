import type { Command } from "../../cli/index.ts";
import { openExecutor } from "../executor.ts";
import { openKinds } from "../kinds.ts";
import { openWorkflows } from "../workflows.ts";
import { runStage, stageOptions } from "./stage.ts";
import type { CommandContext } from "./surroundings.ts";

/** `interlock executor` */
export const executor: Command<CommandContext> = {
  name: "executor",
  about: "the executor alone: runs workflows, one at a time per target",
  usage: `interlock executor [OPTIONS]\n\nDrives executions on the API server that --kubeconfig names. DIR is .executor unless said otherwise.\n\n${stageOptions}`,
  example: "interlock executor --kubeconfig .data/kubeconfig --data .executor",
  perform: (args, around) =>
    runStage(args, around, {
      name: "executor",
      async open(options) {
        const { workflowsDir, catalogNamespace, engine } = options.loaded.config.execution;
        const { kinds, close: closeKinds } = openKinds(options);
        const workflows = await openWorkflows({
          ...options,
          kinds,
          directory: workflowsDir,
          namespace: catalogNamespace,
          defaultEngine: engine,
        });
        const stage = await openExecutor({ ...options, kinds });
        return {
          get isReady() {
            return stage.isReady;
          },
          get problem() {
            return stage.problem;
          },
          ready: stage.ready,
          async close() {
            workflows.close();
            await stage.close();
            closeKinds();
          },
        };
      },
    }),
};
