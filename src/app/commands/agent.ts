import type { Command } from "../../cli/index.ts";
import { openAgent } from "../agent.ts";
import { runStage, stageOptions } from "./stage.ts";
import type { CommandContext } from "./surroundings.ts";

/** `interlock agent` */
export const agent: Command<CommandContext> = {
  name: "agent",
  about: "the coding agent alone: reviews merge requests, does what comments ask for, solves issues",
  usage: `interlock agent [OPTIONS]

Works on coding tasks on the API server that --kubeconfig names, with the GitLab, Jira and command that the configuration
names. DIR is .agent unless said otherwise.

${stageOptions}`,
  example: "interlock agent --kubeconfig .data/kubeconfig --data .agent",
  perform(args, around) {
    const { env } = around;
    return runStage(args, around, { name: "agent", open: (options) => openAgent({ ...options, env }) });
  },
};
