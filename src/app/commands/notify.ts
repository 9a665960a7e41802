import type { Command } from "../../cli/index.ts";
import { openNotify } from "../notify.ts";
import { runStage, stageOptions } from "./stage.ts";
import type { CommandContext } from "./surroundings.ts";

/** `interlock notify` */
export const notify: Command<CommandContext> = {
  name: "notify",
  about: "the delivery of notices alone: console, file, webhook, Slack",
  usage: `interlock notify [OPTIONS]\n\nDelivers the notices on the API server that --kubeconfig names; of several, one does. DIR is .notify unless said otherwise.\n\n${stageOptions}`,
  example: "interlock notify --kubeconfig .data/kubeconfig --data .notify",
  perform(args, around) {
    const { print } = around.terminal;
    return runStage(args, around, { name: "notify", open: (options) => openNotify({ ...options, print }) });
  },
};
