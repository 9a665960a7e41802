import { readFile } from "node:fs/promises";
import { createDurably } from "./write-durably.ts";

/**
 * Returns the text of `file`. If the file does not exist, it is created with the text that `create` returns, readable by this user
 * only. Processes that start together get the same text.
 */
export async function readOrCreate(file: string, create: () => string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await createDurably(file, create()).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return await readFile(file, "utf8");
}
