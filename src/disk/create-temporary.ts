import { type FileHandle, open } from "node:fs/promises";

const maxTries = 1_000;

/**
 * Creates a file beside `path`, for us alone to read. A name that exists is never used: it could be a symbolic link to
 * another file, a file with a loose mode, or a file that another process is writing.
 */
export async function createTemporary(
  path: string,
): Promise<{ readonly temporary: string; readonly handle: FileHandle }> {
  for (let tries = 1; ; tries++) {
    const temporary = tries === 1 ? `${path}.new` : `${path}.new-${tries}`;
    try {
      return { temporary, handle: await open(temporary, "wx", 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || tries === maxTries) throw error;
    }
  }
}
