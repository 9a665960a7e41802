import { lstat, readdir, readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { assertOwned, openLocked } from "../disk/index.ts";
import { sendSignal } from "./run-child.ts";

// Processes that outlive us are found by a lock: all of them inherit the locked file `lock` of their folder, and have it
// open until they end. Works on Linux alone, which shows open files in /proc.

/** The PATH of the command may be anything; flock is found where the system has it. */
const launcher = 'exec "$(command -pv flock)" "$@"';

/** The command line that runs `argv` while it, and every process it starts, holds the lock of `folder`. */
export function underLock(folder: string, argv: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", launcher, "flock", "--no-fork", "-x", "-w", "10", lockFile(folder), ...argv];
}

/** The file that `underLock` locks; it must exist. */
export function lockFile(folder: string): string {
  return join(folder, "lock");
}

/** Whether any process holds the lock of `folder`. */
export async function hasLockHolders(folder: string): Promise<boolean> {
  try {
    const lock = await openLocked(lockFile(folder));
    await lock?.close();
    return lock === undefined;
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || cause?.code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Signals every process that holds the lock of `folder`. A process is recognised by its open files, the lock or the
 * output: a recorded process id may belong to another process by now. If `started` names the leader of a process group
 * and a member of the group is recognised, the group is signalled as a whole. The process named in `collector`, which
 * collects the output, gets no signal: it ends when the last writer does.
 */
export async function signalLockHolders(folder: string, name: "SIGTERM" | "SIGKILL"): Promise<void> {
  const holders = await findLockHolders(folder);
  const leader = await readNumber(join(folder, "started"));
  if (leader !== undefined && holders.some(({ group }) => group === leader)) sendSignal(-leader, name);
  for (const { pid, group } of holders) if (group !== leader) sendSignal(pid, name);
}

interface LockHolder {
  readonly pid: number;
  readonly group: number;
}

async function findLockHolders(folder: string): Promise<readonly LockHolder[]> {
  const { ino, dev } = await statTrustedLock(folder);
  const collector = await readNumber(join(folder, "collector"));
  const input = await readlink(`/proc/${collector}/fd/0`).catch(() => "");
  // The process id may be reused by now: its input is our output only if it holds our lock, too, and reads a
  // pipe. A file such as /dev/null is open in unrelated processes.
  const isCollector = collector !== undefined && (await hasOpen(collector, { ino, dev, output: undefined }));
  const output = isCollector && /^pipe:\[\d+\]$/.test(input) ? input : undefined;
  const found: LockHolder[] = [];
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid || !(await hasOpen(pid, { ino, dev, output }))) continue;
    const ids = await readIds(pid);
    if (ids && ids.session !== collector) found.push({ pid, group: ids.group });
  }
  return found;
}

/**
 * The lock of a folder that belongs to us alone. Every process that has it open is killed, so a link, or a file of
 * another user, is an error: it could select any process of this machine.
 */
async function statTrustedLock(folder: string): Promise<{ readonly ino: number; readonly dev: number }> {
  await assertOwned(folder);
  const found = await lstat(lockFile(folder));
  const isOurs = process.getuid === undefined || found.uid === process.getuid();
  if (found.isFile() && found.nlink === 1 && isOurs) return found;
  throw new Error(`${lockFile(folder)} is not a lock file of ours, so no process is signalled; remove ${folder}`);
}

interface SearchedFile {
  readonly ino: number;
  readonly dev: number;
  readonly output: string | undefined;
}

async function hasOpen(pid: number, { ino, dev, output }: SearchedFile): Promise<boolean> {
  // Processes end during the search, and those of other users are not readable.
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const file of files) {
    const path = `/proc/${pid}/fd/${file}`;
    const found = await stat(path).catch(() => undefined);
    if (found?.ino === ino && found.dev === dev) return true;
    if (output && (await readlink(path).catch(() => undefined)) === output) return true;
  }
  return false;
}

async function readIds(pid: number): Promise<{ group: number; session: number } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The program name, in parentheses, may contain anything. The last parenthesis precedes state, parent, group, session.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields && { group: Number(fields[2]), session: Number(fields[3]) };
}

async function readNumber(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /^\d+\s*$/.test(text) ? Number(text) : undefined;
}
