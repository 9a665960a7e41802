import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Isolation, IsolationWish, UserId } from "./isolation.ts";
import { onStage } from "./stage.ts";

/** Nobody: what root becomes for the agent unless somebody says who. */
const nobody: UserId = { uid: 65_534, gid: 65_534 };

/** The best that this machine allows, tried out in `directory` rather than guessed. */
export async function findIsolation({ user, network }: IsolationWish, directory: string): Promise<Isolation> {
  const isRoot = process.getuid?.() === 0;
  const own = isRoot ? (user ?? nobody) : undefined;
  const wanted: Isolation = { namespaces: isRoot ? "root" : "user", user: own, network };
  if (await works(wanted, directory)) return wanted;
  // A network of its own may be all that is not allowed.
  const withNetwork = { ...wanted, network: true };
  if (!network && (await works(withNetwork, directory))) return withNetwork;
  return { namespaces: undefined, user: own, network: true };
}

/** The real thing with nothing in it. */
async function works(isolation: Isolation, directory: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const folder = await mkdtemp(join(directory, "probe-"));
  try {
    for (const name of ["work", "tree"]) await mkdir(join(folder, name));
    await writeFile(join(folder, "lock"), "");
    const stage = { folder, workTree: join(folder, "tree"), hidden: [directory], maxFileBytes: 1_000_000 };
    const [program = "", ...args] = onStage(["true"], stage, isolation);
    const [code] = await once(spawn(program, args, { stdio: ["ignore", "ignore", "ignore", "ignore"] }), "exit");
    return code === 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
