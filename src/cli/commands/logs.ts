import { join } from "node:path";
import { isWantedStep, readLogs } from "../../engines/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { findExecution, findIncident } from "../../operate/find/index.ts";
import type { WorkflowExecution } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { CommandError, MisuseError, type ServerContext } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import { bareName } from "../parsing/kinds.ts";
import { readMoment } from "../parsing/options.ts";
import { printExecution, printRun } from "./follow-logs.ts";

interface LogsOptions {
  readonly namespace?: string;
  readonly local?: string;
  readonly follow?: boolean;
  readonly task?: string;
  readonly step?: string;
  readonly tail?: number;
  readonly since?: string;
}

/** `interlock logs` */
export async function logs(context: ServerContext, args: readonly string[], options: LogsOptions): Promise<number> {
  const names = args.map(bareName);
  const [only, another] = names;
  if (only !== undefined && another === undefined) return await printLogs(only, options, context);
  if (options.follow) throw new MisuseError("--follow follows one execution; name one");
  return await forEachName(names, context, async (name) => {
    context.terminal.print(`── ${name}`);
    await printLogs(name, options, context);
  });
}

async function printLogs(
  name: string,
  { namespace, local: folder, since, ...options }: LogsOptions,
  context: ServerContext,
): Promise<number> {
  const { client, terminal, directory } = context;
  const local = folder ?? join(directory, "local");
  const sinceMs = readMoment("since", since, client.serverNowMs());
  const { follow = false, ...wanted } = options;
  const filter = { ...wanted, ...(sinceMs !== undefined && { sinceMs }) };
  const execution = (await findExecution(client, name, namespace)) ?? (await findLatest(name, client));
  if (execution && follow) return await printExecution(execution, { local, filter }, context);
  const run = execution ? requireRun(execution) : await recordedRun(name, context);

  const steps = await readLogs(local, run.uid);
  const found = steps.filter((step) => isWantedStep(step, filter));
  if (found.length === 0 && steps.length > 0) {
    const names = new Set(steps.map(({ task, step }) => `${task}/${step}`));
    throw new CommandError(`run ${run.name} has no such task or step; it has ${[...names].join(", ")}`);
  }
  const written = filter.tail === undefined && sinceMs === undefined ? found : [];
  if (written.length === 0) {
    if (await printRun(run, { local, filter }, context)) return 0;
    const details = [...explainNoOutput(execution), ...otherPlaces(run, context)];
    throw new CommandError(`there is no output of run ${run.name} in ${local} or in a pod`, details);
  }
  for (const { task, attempt, step, text } of written) {
    const again = attempt > 1 ? `, attempt ${attempt}` : "";
    terminal.print(`── task ${task}, step ${step}${again}`);
    if (text === undefined) terminal.print("(still running: to see its output, add -f)");
    else terminal.printOutput(text);
  }
  return 0;
}

/** The latest execution of an incident. */
async function findLatest(name: string, client: KubeClient): Promise<WorkflowExecution | undefined> {
  const incident = await findIncident(client, name);
  if (!incident) return undefined;
  const { name: latest } = incident.status?.executionRefs?.at(-1) ?? {};
  if (latest) return findExecution(client, latest, incident.metadata.namespace);
  throw new CommandError(`incident ${name} has no execution; see: interlock why ${name}`);
}

/** The run whose output is printed. */
interface KnownRun {
  readonly name: string;
  readonly uid: string;
  readonly kind: string;
  /** When its execution was deleted, if it was. */
  readonly deletedAt?: string;
}

/** More than an execution has. */
const maxEvents = 1_000;

/** The run of a deleted execution, from the ledger. */
async function recordedRun(name: string, context: ServerContext): Promise<KnownRun> {
  const events = await context.readEvents({ execution: name }, { max: maxEvents });
  const created = events?.find(({ type }) => type === "run.created");
  if (created) {
    const { run, run_id, run_kind } = created.facts;
    const deletedAt = events?.find(({ type }) => type === "execution.deleted")?.at;
    const known = { name: String(run), uid: String(run_id), kind: String(run_kind) };
    return deletedAt === undefined ? known : { ...known, deletedAt };
  }
  const details = events ? [] : ["the ledger cannot be read here, so deleted executions are not found"];
  if (events?.length) throw new CommandError(`execution ${name} was deleted and never had a run`);
  throw new CommandError(`there is no execution and no incident ${name}; see: interlock get executions`, details);
}

/** A pod that never started has printed nothing. */
function explainNoOutput(execution: WorkflowExecution | undefined): readonly string[] {
  const name = shortNames(execution?.metadata.name ?? "");
  switch (execution?.status?.phase) {
    case "Running":
      return [`It is running, and has printed nothing yet. To wait for its output: interlock logs -f ${name}`];
    case "Failed":
      return [`It failed. See why: interlock why ${name}`];
    default:
      return [];
  }
}

/** Hints at other places that may have the output of a run. */
function otherPlaces({ name, kind, deletedAt }: KnownRun, { recordsIn }: ServerContext): readonly string[] {
  const label = kind === "Job" ? "batch.kubernetes.io/job-name" : "tekton.dev/pipelineRun";
  return [
    `If it ran in a cluster, its pods have it while they exist: kubectl logs -n ${recordsIn} -l ${label}=${name} --all-containers`,
    ...(deletedAt
      ? [
          `The execution was deleted at ${deletedAt}, and its run with it: only a log collector of the cluster may still have it`,
        ]
      : []),
  ];
}

function requireRun({ metadata, status }: WorkflowExecution): KnownRun {
  const run = status && "pipelineRunRef" in status ? status.pipelineRunRef : undefined;
  if (run) return run;
  throw new CommandError(
    `execution ${metadata.name} is ${status?.phase ?? "new"}: it has no run; see: interlock why ${metadata.name}`,
  );
}
