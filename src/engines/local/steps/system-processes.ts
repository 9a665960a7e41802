import { spawn } from "node:child_process";
import { lstat, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assertOwned, openLocked } from "../../../disk/index.ts";
import type { Launch, Processes } from "./processes.ts";
import { wrapperScript } from "./wrapper.ts";

/** Processes of this machine, which has to be Linux: they are found through /proc. */
export function systemProcesses(): Processes {
  return { start, isAlive, signal };
}

/** The step's PATH may be anything; ours is found where the system has it. */
const launcher = 'exec "$(command -pv flock)" "$@"';

async function start(launch: Launch, abandon?: AbortSignal): Promise<string | undefined> {
  const { folder, argv, env, workingDir, outputBytes } = launch;
  const isThere = (await stat(workingDir).catch(() => undefined))?.isDirectory();
  if (!isThere) return `its working directory ${workingDir} does not exist`;
  const lock = lockOf(folder);
  // Made here and not by flock: whoever looks for the lock must find a file.
  await writeFile(lock, "", { flag: "a", mode: 0o600 });
  const wrapper = ["/bin/sh", "-c", wrapperScript, folder, String(outputBytes), ...argv];
  const args = ["-c", launcher, "flock", "--no-fork", "-x", "-w", "10", lock, ...wrapper];
  try {
    // In a session, and so in a process group, of its own. It must not be ended by a Ctrl-C that is meant for us.
    const child = spawn("/bin/sh", args, { cwd: workingDir, env, detached: true, stdio: "ignore" });
    const leave = () => child.unref();
    abandon?.addEventListener("abort", leave, { once: true });
    const complaint = await new Promise<string | undefined>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, name) => resolve(code === 0 ? undefined : `its wrapper ended with ${code ?? name}`));
    });
    abandon?.removeEventListener("abort", leave);
    return complaint;
  } catch (error) {
    // An argument or a variable that no process can have, because there is a zero byte in it.
    return (error as Error).message.split("\n")[0];
  }
}

async function isAlive(folder: string): Promise<boolean> {
  try {
    const lock = await openLocked(lockOf(folder));
    await lock?.close();
    return lock === undefined;
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || cause?.code === "ENOENT") return false;
    throw error;
  }
}

/**
 * A process is recognised by what it has open, the lock or the output: a number that was written down may belong to
 * somebody else by now. The group is signalled as a whole when one of its members is recognised.
 */
async function signal(folder: string, name: "SIGTERM" | "SIGKILL"): Promise<void> {
  const members = await membersOf(folder);
  const leader = await numberIn(join(folder, "started"));
  if (leader !== undefined && members.some(({ group }) => group === leader)) send(-leader, name);
  for (const { pid, group } of members) if (group !== leader) send(pid, name);
}

function send(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

interface Member {
  readonly pid: number;
  readonly group: number;
}

/** Everyone who keeps the step alive, but for those who collect its output: they end when nobody writes any more. */
async function membersOf(folder: string): Promise<readonly Member[]> {
  const { ino, dev } = await trustedLock(folder);
  const collector = await numberIn(join(folder, "collector"));
  const input = await readlink(`/proc/${collector}/fd/0`).catch(() => "");
  // The number may be that of another process by now: what it reads is our output only if it holds our lock, too, and
  // reads a pipe. A file such as /dev/null is open in processes that have nothing to do with the step.
  const isCollector = collector !== undefined && (await hasOpen(collector, { ino, dev, output: undefined }));
  const output = isCollector && /^pipe:\[\d+\]$/.test(input) ? input : undefined;
  const found: Member[] = [];
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid || !(await hasOpen(pid, { ino, dev, output }))) continue;
    const family = await familyOf(pid);
    if (family && family.session !== collector) found.push({ pid, group: family.group });
  }
  return found;
}

/**
 * The lock of a folder that is ours alone. Every process that has it open is killed, so a link, or a file that another
 * user made, is an error: it could name any process of this machine.
 */
async function trustedLock(folder: string): Promise<{ readonly ino: number; readonly dev: number }> {
  await assertOwned(folder);
  const found = await lstat(lockOf(folder));
  const isOurs = process.getuid === undefined || found.uid === process.getuid();
  if (found.isFile() && found.nlink === 1 && isOurs) return found;
  throw new Error(`${lockOf(folder)} is not a lock file of ours: no process is signalled for it; remove ${folder}`);
}

interface Sought {
  readonly ino: number;
  readonly dev: number;
  readonly output: string | undefined;
}

async function hasOpen(pid: number, { ino, dev, output }: Sought): Promise<boolean> {
  // Processes end while we look, and those of others may not be looked at.
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const file of files) {
    const path = `/proc/${pid}/fd/${file}`;
    const found = await stat(path).catch(() => undefined);
    if (found?.ino === ino && found.dev === dev) return true;
    if (output && (await readlink(path).catch(() => undefined)) === output) return true;
  }
  return false;
}

async function familyOf(pid: number): Promise<{ group: number; session: number } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name of the program, in parentheses, may hold anything; what follows the last one are state, parent, group, session.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields && { group: Number(fields[2]), session: Number(fields[3]) };
}

async function numberIn(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /^\d+\s*$/.test(text) ? Number(text) : undefined;
}

function lockOf(folder: string): string {
  return join(folder, "lock");
}
