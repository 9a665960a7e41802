import { join } from "node:path";
import { type Command, type Desk, takeOption } from "../../cli/index.ts";
import { policySettings } from "../executor.ts";
import { openClient } from "../open-client.ts";
import { configFrom, type Surroundings } from "./surroundings.ts";

const deskOptions = `  --data DIR              where "up" keeps its things (default .data)
  --kubeconfig FILE       the API server; default DIR/kubeconfig, which up and api write
  --config FILE           settings in YAML, see docs/configuration.md`;

/** A command that asks the API server or tells it something, as one that can be typed. */
export function atDesk({ name, about, usage, perform }: Command<Desk>): Command<Surroundings> {
  return {
    name,
    about,
    usage: `${usage}\n\n${deskOptions}`,
    async perform(args, around) {
      const { clock, random, terminal } = around;
      const data = takeOption(args, "data");
      const kubeconfig = takeOption(data.rest, "kubeconfig");
      const { value, rest } = takeOption(kubeconfig.rest, "config");
      const { config } = await configFrom(value, around);
      const directory = data.value ?? ".data";
      const status = await perform(rest, {
        client: await openClient(kubeconfig.value ?? join(directory, "kubeconfig"), { clock, random }),
        terminal,
        directory,
        settings: policySettings(config),
        incidentsIn: config.gateway.namespace,
        recordsIn: config.execution.namespace,
      });
      // Connections to the API server would keep the process for a while.
      process.exit(status);
    },
  };
}
