import { startEmbeddedApi } from "../../../app/index.ts";
import { pinoLogger } from "../../../telemetry/index.ts";
import { type CommandContext, closeOnSignal } from "../../context.ts";
import { type ApiOptions, readApiOptions } from "../../parsing/api-options.ts";

/** `interlock api` */
export async function api({ clock, random, env, terminal }: CommandContext, options: ApiOptions): Promise<void> {
  const log = pinoLogger({ level: "warn", format: "text", clock });
  const given = readApiOptions(options, env);
  const { url, kubeconfigFile, close } = await startEmbeddedApi({ ...given, clock, random, log });
  const screen = `Interlock's API server is running.

  API server   ${url}   objects are kept in ${given.directory}
  kubectl      kubectl --kubeconfig ${kubeconfigFile} get namespaces
  stop         Ctrl-C; everything is still there at the next start
`;
  for (const line of screen.split("\n")) terminal.print(line);
  closeOnSignal(close, clock);
}
