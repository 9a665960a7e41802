import {
  openAgent,
  openExecutor,
  openGateway,
  openKinds,
  openLedger,
  openNotify,
  openOrchestrator,
  openWorkflows,
} from "../../../app/index.ts";
import type { Command } from "../../command.ts";
import { type CommandContext, closeOnSignal } from "../../context.ts";
import { openStage, runStage, stageOptions } from "./stage.ts";

/** `interlock gateway` */
export const gateway: Command<CommandContext> = {
  name: "gateway",
  about: "Start only the gateway, which accepts signals over HTTP and opens incidents",
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

/** `interlock orchestrator` */
export const orchestrator: Command<CommandContext> = {
  name: "orchestrator",
  about: "Start only the orchestrator, which decides incidents and creates executions",
  usage: `interlock orchestrator [OPTIONS]\n\nDrives incidents on the API server that --kubeconfig names. DIR is .orchestrator unless said otherwise.\n\n${stageOptions}`,
  example: "interlock orchestrator --kubeconfig .data/kubeconfig --data .orchestrator",
  perform: (args, around) => runStage(args, around, { name: "orchestrator", open: openOrchestrator }),
};

/** `interlock executor` */
export const executor: Command<CommandContext> = {
  name: "executor",
  about: "Start only the executor, which runs workflows, one at a time per target",
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

/** `interlock notify` */
export const notify: Command<CommandContext> = {
  name: "notify",
  about: "Start only the delivery of notices: console, file, webhook, Slack",
  usage: `interlock notify [OPTIONS]\n\nDelivers the notices on the API server that --kubeconfig names; of several, one does. DIR is .notify unless said otherwise.\n\n${stageOptions}`,
  example: "interlock notify --kubeconfig .data/kubeconfig --data .notify",
  perform(args, around) {
    const { print } = around.terminal;
    return runStage(args, around, { name: "notify", open: (options) => openNotify({ ...options, print }) });
  },
};

/** `interlock agent` */
export const agent: Command<CommandContext> = {
  name: "agent",
  about: "Start only the agent, which reviews merge requests and works on comments and issues",
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
