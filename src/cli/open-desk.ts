import {
  declaredKinds,
  factsLimits,
  factsReader,
  hasLedger,
  isOwnServer,
  knownPolicySettings,
  type LedgerPlace,
  openApiServer,
  openLedgerDatabase,
  patienceMs,
  readRulesFolder,
} from "../app/index.ts";
import { KubeError } from "../kube/index.ts";
import { type EventFilter, LedgerError, type LedgerEvent } from "../ledger/index.ts";
import { fixedKinds, listKinds } from "../resources/index.ts";
import type { Clock } from "../time/index.ts";
import { type Command, CommandError, type Desk, takeOption } from "./command.ts";
import { type CommandContext, configFrom, dataDirectory, onRequestToEnd } from "./context.ts";

const deskOptions = `  --data DIR              where "up" keeps its things; default INTERLOCK_DATA, else .data
  --kubeconfig FILE       the API server; default INTERLOCK_KUBECONFIG, else DIR/kubeconfig, which up and api write,
                          else the files of KUBECONFIG, merged as kubectl does
  --context NAME          of the kubeconfig; default INTERLOCK_KUBE_CONTEXT, else its current one
  --config FILE           settings in YAML, see docs/configuration.md`;

/** A command that asks the API server or tells it something, as one that can be typed. */
export function atDesk({ name, about, usage, example, perform }: Command<Desk>): Command<CommandContext> {
  return {
    name,
    about,
    usage: `${usage}\n\n${deskOptions}`,
    example,
    async perform(args, around) {
      const { clock, random, terminal } = around;
      const data = takeOption(args, "data");
      const kubeconfig = takeOption(data.rest, "kubeconfig");
      const context = takeOption(kubeconfig.rest, "context");
      const { value, rest } = takeOption(context.rest, "config");
      const loaded = await configFrom(value, around);
      const { config } = loaded;
      const directory = data.value ?? dataDirectory(around);
      const server = {
        kubeconfig: kubeconfig.value,
        context: context.value,
        directory,
        config,
        env: around.env,
        clock,
        random,
      };
      const client = await openApiServer(server);
      const sharesExecutor = await isOwnServer(server);
      const declared = declaredKinds(config);
      const kinds = () => listKinds(client, declared);
      const status = await answered(
        perform(rest, {
          client,
          terminal,
          clock,
          random,
          interrupted: interruptions(clock),
          directory,
          settings: knownPolicySettings(loaded, { sharesExecutor }),
          incidentsIn: config.gateway.namespace,
          catalogIn: config.execution.catalogNamespace,
          catalogDefaults: {
            engine: config.execution.engine,
            serviceAccountName: config.execution.serviceAccount,
            allowOutsideCatalog: config.execution.allowOutsideCatalog,
          },
          approvalExpiresAfterMs: config.approval.expiresAfterMs,
          recordsIn: config.execution.namespace,
          rules: () => rulesIn(config.rules.dir),
          kinds,
          readFacts: async (incident, subject) => {
            const read = factsReader({ client, kinds: fixedKinds(await kinds()), clock, ...factsLimits(config) });
            return read(incident, subject, new AbortController().signal);
          },
          verification: config.verification,
          recorded: (subject) => recordedOf(subject, { loaded, directory }),
        }),
      );
      await around.flushOutput();
      // Open connections to the API server would keep the process running.
      process.exit(status);
    },
  };
}

/** An API server that does not answer is most often one that was not started. */
async function answered<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof KubeError) || error.code !== "unavailable") throw error;
    throw new CommandError(error.message, [
      "Is Interlock running? Start it with npm start, or name another API server with --kubeconfig",
    ]);
  });
}

/** Each call returns a signal for the next request to end. Signals are handled from the first call on. */
function interruptions(clock: Clock): () => AbortSignal {
  let next: AbortController | undefined;
  let isListening = false;
  return () => {
    next ??= new AbortController();
    if (!isListening) onRequestToEnd(clock, handle);
    isListening = true;
    return next.signal;
  };

  function handle() {
    if (!next) process.exit(interruptedStatus);
    next.abort();
    next = undefined;
  }
}

/** As a shell reports a command that was ended by Ctrl-C. */
const interruptedStatus = 130;

async function rulesIn(directory: string) {
  const { rules, problems } = await readRulesFolder(directory);
  if (problems.length === 0) return rules;
  throw new CommandError("the rules have to be put right first:", problems);
}

/** What is there, and can be read: why a thing did not happen can be told in part without the ledger. */
async function recordedOf(subject: EventFilter, place: LedgerPlace): Promise<readonly LedgerEvent[] | undefined> {
  if (!(await hasLedger(place))) return undefined;
  const database = openLedgerDatabase(place, { waitMs: patienceMs });
  try {
    const events: LedgerEvent[] = [];
    for await (const event of database.events(subject)) events.push(event);
    return events;
  } catch (error) {
    if (error instanceof LedgerError) return undefined;
    throw error;
  } finally {
    await database.close();
  }
}
