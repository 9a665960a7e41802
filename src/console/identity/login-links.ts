import { hash } from "node:crypto";
import { readdir, readFile, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createDurably, ifMissing, makeDirectory } from "../../disk/index.ts";
import { z } from "../../schema/index.ts";
import type { Clock, Random } from "../../time/index.ts";

/** How long a link is valid. */
const linkLifetimeMs = 10 * 60_000;

const schema = z.object({ user: z.string(), expiresAtMs: z.number() });

/** Links that log a user in, once. */
export interface LoginLinks {
  /** A token for a link. Only its hash is stored. */
  create(user: string): Promise<string>;
  /** The user of a link that was not used before. Only one of several concurrent callers receives it. */
  redeem(token: string): Promise<string | undefined>;
}

/** One file for each link, named after the hash of its token: every process with this directory can create and use links. */
export function loginLinks(directory: string, clock: Clock, random: Random): LoginLinks {
  const folder = join(directory, "links");
  const fileFor = (token: string) => join(folder, hash("sha256", token));

  async function removeExpired() {
    for (const name of await readdir(folder)) {
      const link = await readLink(join(folder, name));
      if (link && link.expiresAtMs <= clock.wallMs()) await rm(join(folder, name), { force: true });
    }
  }

  return {
    async create(user) {
      await makeDirectory(directory);
      await makeDirectory(folder);
      await removeExpired();
      const token = random.id() + random.id();
      await createDurably(fileFor(token), JSON.stringify({ user, expiresAtMs: clock.wallMs() + linkLifetimeMs }));
      return token;
    },

    async redeem(token) {
      const file = fileFor(token);
      const link = await readLink(file);
      if (!link) return undefined;
      // The caller that removes the file has used the link: the file system lets only one of them do it.
      const isFirst = await unlink(file).then(() => true, ifMissing(false));
      return isFirst && link.expiresAtMs > clock.wallMs() ? link.user : undefined;
    },
  };
}

/** Undefined for a file that is gone, and for one that a crash left unfinished under its temporary name. */
async function readLink(file: string) {
  try {
    return schema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
