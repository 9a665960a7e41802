import { join } from "node:path";
import { DiskError } from "../disk.ts";
import {
  currentVersion,
  type DirectoryFormat,
  type FoundFormat,
  formatFile,
  formatText,
  isKept,
  isUpgradeEntry,
  keptName,
  parseFormat,
  planUpgrade,
  type Replacement,
} from "./format.ts";
import { type UpgradeFiles, upgradeFiles } from "./upgrade-files.ts";

export interface UpgradeOptions {
  readonly wallMs: number;
  /** Called before anything but the file `format` is changed, where the caller does not own the directory yet. */
  readonly lock?: () => Promise<AsyncDisposable>;
  readonly upgraded?: (done: Upgraded) => void;
  /** For tests: operations that fail. */
  readonly files?: UpgradeFiles;
}

export interface Upgraded {
  readonly directory: string;
  readonly format: string;
  readonly version: number;
  /** Where the files from before are kept. */
  readonly kept: string;
}

/**
 * Brings a directory to the version of `format`. Throws DiskError `unsupported`, and changes nothing, if a newer version wrote it.
 *
 *   copy everything to work ── migrate work ── old files out to kept ── new files in from work ── remove work
 *   └ the directory is as it was: any version may use it ┘└ `format` has the step: the next start goes on there ┘
 *
 * Copies are inside the directory: it may be a volume of its own, and what is beside it read-only or another writer's.
 */
export async function upgradeDirectory(
  directory: string,
  format: DirectoryFormat,
  options: UpgradeOptions,
): Promise<void> {
  const upgrade: Upgrade = { directory, format, files: upgradeFiles, ...options };
  const plan = planUpgrade(await findFormat(upgrade), format);
  if (plan.kind === "current") return;
  if (plan.kind === "stamp") return stamp(upgrade, plan.version);

  await using _lock = await options.lock?.();
  // Another process may have upgraded it before we got the lock.
  const locked = options.lock ? planUpgrade(await findFormat(upgrade), format) : plan;
  if (locked.kind === "migrate") await replace(upgrade, await migrateCopy(upgrade, locked.from));
  if (locked.kind === "resume") await replace(upgrade, locked.replacing);
}

interface Upgrade extends UpgradeOptions {
  readonly directory: string;
  readonly format: DirectoryFormat;
  readonly files: UpgradeFiles;
}

async function findFormat({
  directory,
  format,
  files,
}: Pick<Upgrade, "directory" | "format" | "files">): Promise<FoundFormat> {
  const path = join(directory, formatFile);
  const text = await files.read(path);
  const names = (await files.list(directory)).map(({ name }) => name);
  return {
    directory,
    record: text === undefined ? undefined : parseFormat(text, format, path),
    isEmpty: names.every(isUpgradeEntry),
    kept: names.filter(isKept),
  };
}

async function stamp({ directory, format, files }: Upgrade, version: number): Promise<void> {
  try {
    await files.write(join(directory, formatFile), formatText(format, { version }));
  } catch (error) {
    // A directory without the file is in version 1. On a full disk there is still everything to read.
    if (version > 1 || (error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** Migrates a copy of the files. When this rejects, the directory is as it was. */
async function migrateCopy(upgrade: Upgrade, from: number): Promise<Replacement> {
  const { directory, format, files, wallMs } = upgrade;
  const version = currentVersion(format);
  const work = `upgrade-to-format-${version}`;
  const kept = keptName(from, wallMs);
  const copy = join(directory, work);
  try {
    await files.remove(copy);
    await files.makeDirectory(copy);
    for (const { name, isDirectory } of await dataEntries(upgrade)) {
      await copyTree(files, { from: join(directory, name), to: join(copy, name), isDirectory });
    }
    for (const migrate of format.migrations.slice(from - 1)) await migrate(copy);
    await syncTree(files, copy);
    await files.remove(join(directory, kept));
    await files.makeDirectory(join(directory, kept));
    await files.write(join(directory, kept, formatFile), formatText(format, { version: from }));
    await files.sync(directory);
  } catch (cause) {
    await files.remove(copy).catch(() => {});
    await files.remove(join(directory, kept)).catch(() => {});
    throw failedMigration(upgrade, from, cause);
  }
  return { step: "out", kept, work };
}

function failedMigration({ directory, format }: Upgrade, from: number, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  const what = `${directory} cannot be migrated from format ${from} of ${format.name} to ${currentVersion(format)}`;
  const todo =
    code === "ENOSPC"
      ? "free as much space as the directory takes, and start again"
      : "the version before can still use it";
  return new Error(`${what} (${code ?? message}); nothing was changed: ${todo}`, { cause });
}

/** Puts the migrated files in the place of the old ones. Each step may be repeated; `format` has the one to repeat. */
async function replace(upgrade: Upgrade, { step, kept, work }: Replacement): Promise<void> {
  const { directory, format, files, upgraded } = upgrade;
  const version = currentVersion(format);
  const record = (replacing?: Replacement) =>
    files.write(join(directory, formatFile), formatText(format, { version, ...(replacing && { replacing }) }));

  if (step === "out") {
    await record({ step, kept, work });
    for (const { name } of await dataEntries(upgrade))
      await files.move(join(directory, name), join(directory, kept, name));
    await files.sync(join(directory, kept));
    await files.sync(directory);
    await record({ step: "in", kept, work });
  }
  for (const { name } of await files.list(join(directory, work))) {
    await files.move(join(directory, work, name), join(directory, name));
  }
  await files.remove(join(directory, work));
  await files.sync(directory);
  await record();
  upgraded?.({ directory, format: format.name, version, kept: join(directory, kept) });
}

async function dataEntries({ directory, files }: Upgrade) {
  return (await files.list(directory)).filter(({ name }) => !isUpgradeEntry(name));
}

interface Copying {
  readonly from: string;
  readonly to: string;
  readonly isDirectory: boolean;
}

async function copyTree(files: UpgradeFiles, { from, to, isDirectory }: Copying): Promise<void> {
  if (!isDirectory) return files.copyFile(from, to);
  await files.makeDirectory(to);
  for (const entry of await files.list(from)) {
    await copyTree(files, {
      from: join(from, entry.name),
      to: join(to, entry.name),
      isDirectory: entry.isDirectory,
    });
  }
}

async function syncTree(files: UpgradeFiles, directory: string): Promise<void> {
  for (const { name, isDirectory } of await files.list(directory)) {
    if (isDirectory) await syncTree(files, join(directory, name));
    else await files.sync(join(directory, name));
  }
  await files.sync(directory);
}

/** Throws DiskError `unsupported` unless the files of `directory` can be read as they are. */
export async function assertReadable(directory: string, format: DirectoryFormat): Promise<void> {
  const plan = planUpgrade(await findFormat({ directory, format, files: upgradeFiles }), format);
  if (plan.kind === "current" || plan.kind === "stamp") return;
  const todo = "start the process that owns it, which migrates it";
  throw new DiskError("unsupported", `${directory} is not yet in the current format of ${format.name}: ${todo}`);
}
