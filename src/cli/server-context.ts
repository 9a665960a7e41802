import { isOwnServer, openApiServer, operateContext } from "../app/index.ts";
import { KubeError } from "../kube/index.ts";
import type { Clock } from "../time/index.ts";
import { CommandError, exitStatus, type ServerContext } from "./command.ts";
import { type CommandContext, type ContextOptions, configFrom, dataDirectory, onStopSignal } from "./context.ts";
import { startCommand } from "./package.ts";
import { toCommandError } from "./to-command-error.ts";

/** Opens the API server and the settings, and calls `work` with the context of a command. */
export async function withServerContext<T>(
  options: ContextOptions,
  base: CommandContext,
  work: (context: ServerContext) => Promise<T>,
): Promise<T> {
  return work(await openServerContext(options, base)).catch((thrown: unknown) => {
    const error = toCommandError(thrown);
    if (!(error instanceof KubeError)) throw error;
    if (error.code === "unavailable") throw new CommandError(error.message, [unavailableHint(error)], "unavailable");
    if (error.code !== "forbidden") throw error;
    const hint = "Ask for this right, or choose other credentials with --kubeconfig or --context";
    throw new CommandError(error.message, [hint], "forbidden");
  });
}

function unavailableHint({ cause }: KubeError): string {
  const code = String((cause as NodeJS.ErrnoException | undefined)?.code);
  if (/CERT|SIGNATURE/.test(code)) {
    return "The kubeconfig does not have the certificate of this server; name its own with --kubeconfig";
  }
  // An API server that does not respond is most often one that was not started.
  return `Is Interlock running? Start it with ${startCommand()}, or name another API server with --kubeconfig`;
}

/** Loaded at the first use: rules need libraries that most commands do not. */
const readers = () => import("./rule-readers.ts");

async function openServerContext(options: ContextOptions, base: CommandContext): Promise<ServerContext> {
  const { clock, random, terminal, env } = base;
  const loaded = await configFrom(options.config, base);
  const { config } = loaded;
  const { kubeconfig, context: contextName, data: directory = dataDirectory(base) } = options;
  const place = { directory, startCommand: startCommand() };
  const server = { kubeconfig, context: contextName, ...place, config, env, clock, random };
  const client = await openApiServer(server).catch((error: Error) => {
    if (!error.message.startsWith("kubeconfig:")) throw error;
    throw new CommandError(error.message, ["Name another file with --kubeconfig, or another context with --context"]);
  });
  const context = operateContext({
    loaded,
    client,
    clock,
    sharesExecutor: await isOwnServer(server),
    recorded: async (subject, options) =>
      (await import("./read-recorded.ts")).readRecorded({ subject, ...options }, { loaded, directory }),
  });
  return {
    ...context,
    podLogs: client.podLogs,
    terminal,
    random,
    interrupted: interruptions(clock),
    directory,
    namespace: config.objects.namespace,
    heartbeatsIn: config.locks.namespace,
    digestWindowMs: config.notify.digestWindowMs,
    rules: async () => (await readers()).rulesIn(config.rules.dir),
    readFacts: async (incident, subject) => {
      const { readFacts } = await readers();
      return readFacts(incident, subject, { client, kinds: await context.kinds(), clock, config });
    },
  };
}

/** Each call returns a signal for the next request to end. Signals are handled from the first call on. */
function interruptions(clock: Clock): () => AbortSignal {
  let next: AbortController | undefined;
  let isListening = false;
  return () => {
    next ??= new AbortController();
    if (!isListening) onStopSignal(clock, handle);
    isListening = true;
    return next.signal;
  };

  function handle() {
    if (!next) process.exit(exitStatus("interrupted"));
    next.abort();
    next = undefined;
  }
}
