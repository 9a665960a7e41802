import { stat } from "node:fs/promises";
import {
  markUnreadable,
  type PipelineReader,
  pipelineReader,
  readCatalog,
  runsAction,
  storeCatalog,
} from "../engines/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Engine, KindsCache, RemediationWorkflow } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";
import type { ReportHealth } from "./health/health-reports.ts";
import { watchFolder } from "./watch-folder.ts";

export interface WorkflowsOptions {
  /** The folder with one folder per workflow. */
  readonly directory: string;
  /** The namespace of the catalog. */
  readonly namespace: string;
  /** The engine of a workflow that names none. */
  readonly defaultEngine: Engine;
  /** The engines that are set up here. */
  readonly engines: readonly Engine[];
  readonly client: KubeClient;
  /** A workflow that names a kind which becomes known later is stored then. */
  readonly kinds: KindsCache;
  readonly clock: Clock;
  readonly log: Logger;
  /** Receives the problems of the files after each reading. */
  readonly report?: ReportHealth | undefined;
}

/** The workflows of a folder, stored in the catalog and stored again after each change of a file. */
export interface Workflows {
  /** Ids of the workflows that are in the folder now, without problems. */
  readonly ids: readonly string[];
  /** Ids of those that run a ready-made action with the local engine: they need a cluster to act on. */
  readonly actionIds: readonly string[];
  close(): void;
}

/**
 * Stores the workflows of a folder in the catalog, and watches the folder. A file with a problem is logged and does not
 * affect the others: the version that was stored earlier stays. If its pipeline cannot be read any more, it is marked as
 * Invalid, and nothing is started with it until the file is corrected. A version never leaves the catalog by itself, because
 * executions may refer to it: a removed file is logged, with the command that removes the entry.
 */
export async function openWorkflows(options: WorkflowsOptions): Promise<Workflows> {
  const { directory, kinds, clock, log, report } = options;
  await kinds.synced;
  let folder = emptyFolder;
  const watch = await watchFolder(directory, {
    clock,
    log,
    subfolders: true,
    reload: async () => {
      folder = await load(options, folder);
      report?.([...folder.problems]);
    },
  });
  const unsubscribe = kinds.subscribe(() => watch.reloadSoon());
  return {
    get ids() {
      return uniqueIds(folder.stored);
    },
    get actionIds() {
      return uniqueIds(folder.stored).filter((id) => folder.actionIds.has(id));
    },
    close() {
      unsubscribe();
      watch.close();
    },
  };
}

/** The content of the folder when it was last read. */
interface Folder {
  readonly stored: StoredEntries;
  readonly actionIds: ReadonlySet<string>;
  /** The logged problems: an unchanged problem is not logged again. */
  readonly problems: ReadonlySet<string>;
}

/** By the name of the entry. */
type StoredEntries = ReadonlyMap<string, { readonly workflowId: string; readonly version: string }>;

const emptyFolder: Folder = { stored: new Map(), actionIds: new Set(), problems: new Set() };

function uniqueIds(stored: StoredEntries): readonly string[] {
  return [...new Set([...stored.values()].map(({ workflowId }) => workflowId))];
}

async function load(options: WorkflowsOptions, before: Folder): Promise<Folder> {
  const { directory, namespace, defaultEngine, client, kinds, log } = options;
  const readPipeline = pipelineReader(directory);
  const isThere = (await stat(directory).catch(() => undefined))?.isDirectory() ?? false;
  const { workflows, problems } = isThere
    ? await readCatalog(directory, kinds.current, { defaultEngine, readPipeline })
    : { workflows: [], problems: [] };
  const found = new Set(problems);
  for (const problem of problems) {
    if (!before.problems.has(problem)) log.error("workflow not loaded", { problem, next: "the stored version stays" });
  }

  for (const step of await storeCatalog(client, { namespace, workflows })) {
    if (step.did === "create") log.info("workflow loaded", { name: step.name });
    if (step.did !== "leave") continue;
    if (!before.problems.has(step.because)) {
      log.warn("workflow left alone", { name: step.name, because: step.because });
    }
    found.add(step.because);
  }

  for (const because of workflows.flatMap((workflow) => engineProblems(workflow, options))) {
    if (!before.problems.has(because)) log.warn("workflow cannot run", { because });
    found.add(because);
  }

  await markUnreadable(client, { namespace, readPipeline, defaultEngine });

  const stored = new Map(workflows.map(({ metadata, spec }) => [metadata.name ?? "", spec]));
  // While a file cannot be read, its entry is not known to be removed.
  for (const [name, { workflowId, version }] of problems.length === 0 ? before.stored : []) {
    if (stored.has(name)) continue;
    const next = `it can still be run; to end that: kubectl delete rw ${name} -n ${namespace}`;
    log.warn("workflow file removed", { workflowId, version, next });
  }
  return {
    stored: problems.length === 0 ? stored : new Map([...before.stored, ...stored]),
    actionIds: await findActions(workflows, { defaultEngine, readPipeline }),
    problems: found,
  };
}

async function findActions(
  workflows: readonly RemediationWorkflow[],
  { defaultEngine, readPipeline }: Pick<WorkflowsOptions, "defaultEngine"> & { readonly readPipeline: PipelineReader },
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const { spec } of workflows) {
    if ((spec.engine ?? defaultEngine) !== "local") continue;
    const read = await readPipeline(spec.containerImage);
    if (read.kind === "read" && runsAction(read.pipeline)) ids.add(spec.workflowId);
  }
  return ids;
}

function engineProblems(
  { spec }: RemediationWorkflow,
  { engines, defaultEngine }: WorkflowsOptions,
): readonly string[] {
  const { workflowId, version, engine = defaultEngine } = spec;
  if (engines.includes(engine)) return [];
  const what = `workflow ${workflowId} ${version} needs engine ${engine}, which is not set up here`;
  return [`${what}: add ${engine} to execution.engines (now ${engines.join(", ")}), or change the workflow`];
}
