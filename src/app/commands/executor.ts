import type { Command } from "../../cli/index.ts";
import { openExecutor } from "../executor.ts";
import { openLedger } from "../ledger.ts";
import { serveMetrics } from "../metrics.ts";
import { loadCatalog } from "../up.ts";
import { openStage, stageOptions } from "./stage.ts";
import { closeOnSignal, type Surroundings } from "./surroundings.ts";

/** `interlock executor` */
export const executor: Command<Surroundings> = {
  name: "executor",
  about: "the executor alone: runs workflows, one at a time per target",
  usage: `interlock executor [OPTIONS]\n\nDrives executions on the API server that --kubeconfig names. DIR is .executor unless said otherwise.\n\n${stageOptions}`,
  example: "interlock executor --kubeconfig .data/kubeconfig --data .executor",
  async perform(args, around) {
    const { clock, random, metrics } = around;
    const { loaded, client, log, directory } = await openStage(args, around, ".executor");
    await loadCatalog(loaded.config.execution.workflowsDir, client, log);
    const ledger = await openLedger({ loaded, directory, clock, random, log, metrics });
    const stage = await openExecutor({ loaded, client, ledger, directory, clock, random, log, metrics });
    await stage.ready;
    const served = await serveMetrics(loaded.config.metrics.listen, metrics, () => stage.isReady);
    log.info("executor ready", { pid: process.pid, ...(served && { metrics: served.url }) });
    closeOnSignal(async () => {
      await served?.close();
      await stage.close();
      await ledger.close();
    });
    return 0;
  },
};
