import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDurably, makeDirectory } from "../../disk/index.ts";
import type { Random } from "../../time/index.ts";

/** The key that signs sessions. It is stored in a file that only its owner can read, so that sessions outlive a restart. */
export async function keptSessionKey(directory: string, random: Random): Promise<string> {
  const file = join(directory, "session-key");
  await makeDirectory(directory);
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await createDurably(file, random.id() + random.id() + random.id()).catch((error: NodeJS.ErrnoException) => {
    // Another process has created one meanwhile.
    if (error.code !== "EEXIST") throw error;
  });
  return readFile(file, "utf8");
}
