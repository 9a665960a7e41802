import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockFile } from "../lock-holders.ts";
import { runChild } from "../run-child.ts";
import { type Isolation, type IsolationRequest, isolatedCommand, type UserId } from "./isolated-command.ts";

const nobody: UserId = { uid: 65_534, gid: 65_534 };

/** The strongest isolation that this machine allows, found by running a command in `directory`. */
export async function findIsolation({ user, network }: IsolationRequest, directory: string): Promise<Isolation> {
  const isRoot = process.getuid?.() === 0;
  const own = isRoot ? (user ?? nobody) : undefined;
  const wanted: Isolation = { namespaces: isRoot ? "root" : "user", user: own, network };
  if (await canIsolate(wanted, directory)) return wanted;
  // The network namespace may be the only one that is forbidden.
  const withNetwork = { ...wanted, network: true };
  if (!network && (await canIsolate(withNetwork, directory))) return withNetwork;
  return { namespaces: undefined, user: own, network: true };
}

async function canIsolate(isolation: Isolation, directory: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const folder = await mkdtemp(join(directory, "probe-"));
  try {
    for (const name of ["work", "tree"]) await mkdir(join(folder, name));
    await writeFile(lockFile(folder), "");
    const run = { folder, workTree: join(folder, "tree"), hidden: [directory], maxFileBytes: 1_000_000 };
    const argv = isolatedCommand(["true"], run, isolation);
    return (await runChild({ argv, maxOutputBytes: 1_000_000, signalsReady: true })).code === 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
