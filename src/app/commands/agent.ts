import type { Command } from "../../cli/index.ts";
import { openAgent } from "../agent.ts";
import { openLedger } from "../ledger.ts";
import { serveMetrics } from "../metrics.ts";
import { openStage, stageOptions } from "./stage.ts";
import { closeOnSignal, type Surroundings } from "./surroundings.ts";

/** `interlock agent` */
export const agent: Command<Surroundings> = {
  name: "agent",
  about: "the coding agent alone: reviews merge requests, does what comments ask for, solves issues",
  usage: `interlock agent [OPTIONS]

Works on coding tasks on the API server that --kubeconfig names, with the GitLab, Jira and command that the configuration
names. DIR is .agent unless said otherwise.

${stageOptions}`,
  example: "interlock agent --kubeconfig .data/kubeconfig --data .agent",
  async perform(args, around) {
    const { clock, random, metrics, env } = around;
    const { loaded, client, log, directory } = await openStage(args, around, ".agent");
    const ledger = await openLedger({ loaded, directory, clock, random, log, metrics });
    const stage = await openAgent({ loaded, client, ledger, directory, env, clock, random, log, metrics });
    await stage.ready;
    const served = await serveMetrics(loaded.config.metrics.listen, metrics, () => stage.isReady);
    log.info("agent ready", { pid: process.pid, ...(served && { metrics: served.url }) });
    closeOnSignal(async () => {
      await served?.close();
      await stage.close();
      await ledger.close();
    });
    return 0;
  },
};
