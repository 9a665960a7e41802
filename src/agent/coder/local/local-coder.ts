import { access, constants } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { openOwnDirectory } from "../../../disk/index.ts";
import { type IsolatedRun, type Isolation, isolatedCommand, killAll, visibleWorkTree } from "../../../process/index.ts";
import type { Logger } from "../../../telemetry/index.ts";
import type { Clock } from "../../../time/index.ts";
import { removeFolder } from "../../git/own-folder.ts";
import type { PatchLimits, Workshop, WorkTree } from "../../git/workshop.ts";
import { cleanText } from "../clean-text.ts";
import type { Coder, CoderOrder, CoderOutcome } from "../coder.ts";
import { fillCommand } from "../coder.ts";
import { coderFailure, describeExit, toOutcome } from "../conclude.ts";
import { type DiskUse, diskUse } from "../disk-use.ts";
import { type CoderEnd, runCoder } from "./coder-process.ts";
import { changeOwner, clearAbandoned, createScratch, renameTemporarily, type Scratch } from "./scratch.ts";

export interface LocalCoderOptions {
  readonly workshop: Pick<Workshop, "fetchCommit" | "checkout" | "createPatch">;
  /** Program and arguments, in which `{workTree}` and `{requestFile}` are filled in. */
  readonly command: readonly string[];
  /** The variables that are passed to the coder. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: CoderLimits;
  /** Texts that must not be shown or pushed, longest first. */
  readonly secrets: () => Promise<readonly string[]>;
  /** Interlock's own secrets, which the coder must not get. */
  readonly ownSecrets: () => Promise<readonly string[]>;
  /** The folder for runs. It must belong to us alone; it may be in one of `hidden` only with namespaces. */
  readonly directory: string;
  /** Files and folders that are hidden from the coder, if it has its own mounts. */
  readonly hidden: readonly string[];
  readonly isolation: Isolation;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface CoderLimits {
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** How much the coder may add to its folders: work tree, HOME and TMPDIR together. */
  readonly maxAddedBytes: number;
  readonly maxAddedFiles: number;
  readonly patch: PatchLimits;
}

const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Runs the coder as processes of this machine, with its own session, HOME and TMPDIR, isolated as far as the machine
 * allows. Processes that an earlier Interlock process left behind are killed first.
 */
export async function openLocalCoder(options: LocalCoderOptions): Promise<Coder> {
  await refuseSecretValues(options);
  if (!(await canFindProgram(options))) {
    options.log.warn("coder not found", { command: options.command[0], fix: commandFix(options) });
  }
  await openOwnDirectory(options.directory, "agent.workDir");
  await clearAbandoned(options.directory, async (folder) => {
    options.log.warn("abandoned coder run found", { folder });
    await killAll({ folder, mark: runMark(folder), clock: options.clock });
    await removeFolder(folder);
  });
  return { run: (order, signal) => runOrder(order, { options, signal }) };
}

/** The names are checked with the settings; the values are only available here. */
async function refuseSecretValues({ environment, ownSecrets }: LocalCoderOptions) {
  const secrets = await ownSecrets();
  for (const [name, value] of Object.entries(environment)) {
    if (secrets.some((secret) => value.includes(secret))) {
      throw new Error(`${name} contains a secret of Interlock: remove it from agent.passEnvironment`);
    }
  }
}

/** Whether the program of the command exists. One that is part of the repository is found when the coder runs. */
async function canFindProgram({ command: [program = ""], environment }: LocalCoderOptions): Promise<boolean> {
  if (program.includes("/") && !isAbsolute(program)) return true;
  const path = environment["PATH"] ?? usualPath;
  const files = isAbsolute(program) ? [program] : path.split(":").map((folder) => join(folder, program));
  const found = await Promise.all(files.map((file) => isExecutable(file)));
  return found.includes(true);
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function commandFix({ command: [program = ""], environment }: LocalCoderOptions): string {
  if (program.includes("/")) return "correct agent.command (AGENT_COMMAND)";
  const path = environment["PATH"] ?? usualPath;
  return `write its full path in agent.command (AGENT_COMMAND), or add PATH to agent.publicEnvironment: it is searched in ${path}`;
}

interface AttemptContext {
  readonly options: LocalCoderOptions;
  readonly signal: AbortSignal;
}

async function runOrder(order: CoderOrder, context: AttemptContext): Promise<CoderOutcome> {
  const { options, signal } = context;
  const { workshop, limits } = options;
  await workshop.fetchCommit(order.repository, order.sha, order.ref, signal);
  await using tree = await workshop.checkout(order.repository, order.sha, signal);
  const request = JSON.stringify(order.request);
  await using scratch = await createScratch(options.directory, request, options.isolation.user);
  if (options.isolation.user) await changeOwner(options.isolation.user, tree.directory);

  const end = await runIn(scratch, tree, request, context);
  const secrets = await options.secrets();
  if (end.how === "ended") return coderFailure(end.why, `The coder was stopped: ${end.message}.`);
  if (end.how === "not-started") return coderFailure("NotStarted", notStartedMessage(end.message, options, secrets));
  if (end.code !== 0) {
    const hint = options.isolation.network ? "" : " (it has no network: agent.network is none)";
    return coderFailure("ExitCode", `${describeExit(`exited with code ${end.code}`, end, secrets)}${hint}`);
  }
  return await toOutcome(order.request.kind, end.stdout, {
    secrets,
    change: () => workshop.createPatch(tree, limits.patch, signal),
  });
}

async function runIn(scratch: Scratch, tree: WorkTree, request: string, context: AttemptContext): Promise<CoderEnd> {
  const { options, signal } = context;
  const { isolation, limits, clock } = options;
  const { folder } = scratch;
  const run: IsolatedRun = {
    folder,
    workTree: tree.directory,
    hidden: [options.directory, ...options.hidden],
    maxFileBytes: limits.maxAddedBytes,
  };
  const workTree = visibleWorkTree(run, isolation);
  const argv = fillCommand(options.command, { workTree, requestFile: join(folder, "request.json") });
  const mark = runMark(folder);
  const [markName = "", markValue = ""] = mark.split("=");
  const isRenamed = !isolation.namespaces && workTree !== tree.directory;
  await using _renamed = isRenamed ? await renameTemporarily(tree.directory, workTree) : undefined;
  const folders = [isRenamed ? workTree : tree.directory, join(folder, "home"), join(folder, "tmp")];
  const before = await diskUse(folders);
  const checkSize = async () => findExcess(await diskUse(folders), before, limits);
  const end = await runCoder(
    {
      argv: isolatedCommand(argv, run, isolation),
      env: {
        ...{ PATH: usualPath, LANG: "C.UTF-8", ...options.environment },
        ...{ HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), [markName]: markValue },
      },
      input: request,
      timeoutMs: limits.timeoutMs,
      maxOutputBytes: limits.maxOutputBytes,
      checkSize,
      folder,
      mark: isolation.namespaces ? undefined : mark,
      clock,
    },
    signal,
  );
  // The coder may have written after the last check.
  const message = end.how === "exited" ? await checkSize() : undefined;
  return message === undefined ? end : { how: "ended", why: "WorkTreeTooLarge", message };
}

/** The variable that marks all processes of the run in `folder`. */
function runMark(folder: string): string {
  return `INTERLOCK_CODER_RUN=${basename(folder)}`;
}

function findExcess(now: DiskUse, before: DiskUse, { maxAddedBytes, maxAddedFiles }: CoderLimits): string | undefined {
  if (now.bytes - before.bytes > maxAddedBytes)
    return `it wrote more than ${maxAddedBytes} bytes to disk, see agent.maxDisk`;
  if (now.files - before.files > maxAddedFiles)
    return `it created more than ${maxAddedFiles} files, see agent.maxDiskFiles`;
  return undefined;
}

function notStartedMessage(message: string, options: LocalCoderOptions, secrets: readonly string[]): string {
  const reason = cleanText(message, 500, secrets) || "no reason given";
  return `The coder could not be started (${options.command[0]}): ${reason}; ${commandFix(options)}.`;
}
