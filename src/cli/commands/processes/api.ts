import { startEmbeddedApi } from "../../../app/index.ts";
import { pinoLogger } from "../../../telemetry/index.ts";
import type { Command } from "../../command.ts";
import { type CommandContext, closeOnSignal } from "../../context.ts";
import { readApiArguments } from "../../parsing/api-arguments.ts";

export const apiOptions = `  --data DIR              where everything is kept; default INTERLOCK_DATA, else .data
  --listen HOST:PORT      of the API server; default 127.0.0.1:7080; port 0 takes a free one
  --token TOKEN           the admin's token; better in INTERLOCK_TOKEN, where no process list shows it.
                          Without either, one is made and kept in the data directory
  --accept-plain-tokens   accept tokens over plain HTTP, not over TLS alone; only on a loopback address.
                          Or INTERLOCK_ACCEPT_PLAIN_TOKENS=true
  --kubeconfig-out FILE   where the kubeconfig goes (default DIR/kubeconfig)`;

/** `interlock api` */
export const api: Command<CommandContext> = {
  name: "api",
  about: "Start only the embedded API server",
  usage: `interlock api [OPTIONS]\n\nServes the Kubernetes API from a directory, for other processes of this machine.\n\n${apiOptions}`,
  example: "interlock api --data /var/lib/interlock --listen 127.0.0.1:7080",
  async perform(args, { clock, random, env, terminal }) {
    const log = pinoLogger({ level: "warn", format: "text", clock });
    const given = readApiArguments(args, env);
    const { url, kubeconfigFile, close } = await startEmbeddedApi({ ...given, clock, random, log });
    const screen = `Interlock's API server is running.

  API server   ${url}   objects are kept in ${given.directory}
  kubectl      kubectl --kubeconfig ${kubeconfigFile} get namespaces
  stop         Ctrl-C; everything is still there at the next start
`;
    for (const line of screen.split("\n")) terminal.print(line);
    closeOnSignal(close, clock);
    return 0;
  },
};
