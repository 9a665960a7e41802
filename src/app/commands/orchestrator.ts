import type { Command } from "../../cli/index.ts";
import { openLedger } from "../ledger.ts";
import { serveMetrics } from "../metrics.ts";
import { openOrchestrator } from "../orchestrator.ts";
import { openStage, stageOptions } from "./stage.ts";
import { closeOnSignal, type Surroundings } from "./surroundings.ts";

/** `interlock orchestrator` */
export const orchestrator: Command<Surroundings> = {
  name: "orchestrator",
  about: "the orchestrator alone: decides about incidents, and has executions made for them",
  usage: `interlock orchestrator [OPTIONS]\n\nDrives incidents on the API server that --kubeconfig names. DIR is .orchestrator unless said otherwise.\n\n${stageOptions}`,
  example: "interlock orchestrator --kubeconfig .data/kubeconfig --data .orchestrator",
  async perform(args, around) {
    const { clock, random, metrics } = around;
    const { loaded, client, log, directory } = await openStage(args, around, ".orchestrator");
    const ledger = await openLedger({ loaded, directory, clock, random, log, metrics });
    const stage = await openOrchestrator({ loaded, client, ledger, clock, random, log, metrics });
    await stage.ready;
    const served = await serveMetrics(loaded.config.metrics.listen, metrics, () => stage.isReady);
    log.info("orchestrator ready", { pid: process.pid, ...(served && { metrics: served.url }) });
    closeOnSignal(async () => {
      await served?.close();
      await stage.close();
      await ledger.close();
    });
    return 0;
  },
};
