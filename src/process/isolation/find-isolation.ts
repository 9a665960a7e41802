import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockFile } from "../lock-holders.ts";
import { runChild } from "../run-child.ts";
import { type Isolation, type IsolationRequest, isolatedCommand, type UserId } from "./isolated-command.ts";

const nobodyUser: UserId = { uid: 65_534, gid: 65_534 };

/** The strongest isolation that this machine allows, found by running a command in `directory`. */
export async function findIsolation({ user, network }: IsolationRequest, directory: string): Promise<Isolation> {
  const isRoot = process.getuid?.() === 0;
  const isolatedUser = isRoot ? (user ?? nobodyUser) : undefined;
  const requested: Isolation = { namespaces: isRoot ? "root" : "user", user: isolatedUser, network };
  if (await canIsolate(requested, directory)) return requested;
  // The network namespace may be the only one that is forbidden.
  const withNetwork = { ...requested, network: true };
  if (!network && (await canIsolate(withNetwork, directory))) return withNetwork;
  return { namespaces: undefined, user: isolatedUser, network: true };
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
