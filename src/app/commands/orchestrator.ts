import type { Command } from "../../cli/index.ts";
import { openOrchestrator } from "../orchestrator.ts";
import { runStage, stageOptions } from "./stage.ts";
import type { CommandContext } from "./surroundings.ts";

/** `interlock orchestrator` */
export const orchestrator: Command<CommandContext> = {
  name: "orchestrator",
  about: "the orchestrator alone: decides about incidents, and has executions made for them",
  usage: `interlock orchestrator [OPTIONS]\n\nDrives incidents on the API server that --kubeconfig names. DIR is .orchestrator unless said otherwise.\n\n${stageOptions}`,
  example: "interlock orchestrator --kubeconfig .data/kubeconfig --data .orchestrator",
  perform: (args, around) => runStage(args, around, { name: "orchestrator", open: openOrchestrator }),
};
