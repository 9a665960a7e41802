import type { Command } from "../../cli/index.ts";
import { openGateway } from "../gateway.ts";
import { openLedger } from "../ledger.ts";
import { openStage, stageOptions } from "./stage.ts";
import { type CommandContext, closeOnSignal } from "./surroundings.ts";

/** `interlock gateway` */
export const gateway: Command<CommandContext> = {
  name: "gateway",
  about: "the gateway alone: takes signals over HTTP and opens incidents for them",
  usage: `interlock gateway [OPTIONS]\n\nTakes signals and opens incidents on the API server that --kubeconfig names. DIR is .gateway unless said otherwise.\n\n${stageOptions}`,
  example: "interlock gateway --kubeconfig .data/kubeconfig --data .gateway",
  async perform(args, around) {
    const { clock, random, metrics, terminal } = around;
    const { loaded, client, log, directory } = await openStage(args, around, ".gateway");
    const ledger = await openLedger({ loaded, directory, clock, random, log, metrics });
    const options = { loaded, client, ledger, directory, clock, random, log, metrics };
    const { url, tokenFile, close } = await openGateway(options);
    const screen = `Interlock's gateway is running.

  signals      ${url}/api/v1/signals   tokens are in ${tokenFile ?? "the configuration"}
  Alertmanager ${url}/api/v1/signals/alertmanager
  metrics      ${url}/metrics
  stop         Ctrl-C; everything is still there at the next start
`;
    for (const line of screen.split("\n")) terminal.print(line);
    closeOnSignal(async () => {
      await close();
      await ledger.close();
    }, clock);
    return 0;
  },
};
