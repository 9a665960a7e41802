import type { Command } from "../../cli/index.ts";
import { openLedger } from "../ledger.ts";
import { serveMetrics } from "../metrics.ts";
import { openNotify } from "../notify.ts";
import { openStage, stageOptions } from "./stage.ts";
import { closeOnSignal, type Surroundings } from "./surroundings.ts";

/** `interlock notify` */
export const notify: Command<Surroundings> = {
  name: "notify",
  about: "the delivery of notices alone: console, file, webhook, Slack",
  usage: `interlock notify [OPTIONS]\n\nDelivers the notices on the API server that --kubeconfig names; of several, one does. DIR is .notify unless said otherwise.\n\n${stageOptions}`,
  example: "interlock notify --kubeconfig .data/kubeconfig --data .notify",
  async perform(args, around) {
    const { clock, random, metrics, terminal } = around;
    const { loaded, client, log, directory } = await openStage(args, around, ".notify");
    const ledger = await openLedger({ loaded, directory, clock, random, log, metrics });
    const { print } = terminal;
    const stage = await openNotify({ loaded, client, ledger, clock, random, log, metrics, print });
    const served = await serveMetrics(loaded.config.metrics.listen, metrics, () => stage.isReady);
    await stage.ready;
    log.info("notify ready", { pid: process.pid, ...(served && { metrics: served.url }) });
    closeOnSignal(async () => {
      await served?.close();
      await stage.close();
      await ledger.close();
    });
    return 0;
  },
};
