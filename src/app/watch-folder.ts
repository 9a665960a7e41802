import { type FSWatcher, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Logger } from "../telemetry/index.ts";
import type { Clock, Timer } from "../time/index.ts";

export interface FolderWatchOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Reads the folder. Never called twice at once; called again later when it rejects. */
  readonly reload: () => Promise<void>;
  /** Also watch the folders right below. */
  readonly subfolders?: boolean;
}

export interface FolderWatch {
  /** Reads the folder again soon, although nothing in it has changed. */
  reloadSoon(): void;
  close(): void;
}

/** An editor writes a file in several steps: changes within this time are one. */
const settleMs = 100;
const retryMs = 5_000;

/**
 * Calls `reload` once, then again after each change in `directory`, which need not exist yet and may be replaced.
 * Rejects if the first call does.
 */
export async function watchFolder(directory: string, options: FolderWatchOptions): Promise<FolderWatch> {
  const watching = new Watching(resolve(directory), options);
  try {
    await watching.begin();
  } catch (error) {
    watching.close();
    throw error;
  }
  return watching;
}

class Watching implements FolderWatch {
  readonly #directory: string;
  readonly #options: FolderWatchOptions;
  /** By path and inode: a folder that was deleted and created again needs another watcher. */
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: Timer | undefined;
  #reloading = false;
  #changedMeanwhile = false;
  #closed = false;

  constructor(directory: string, options: FolderWatchOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  async begin(): Promise<void> {
    this.#reloading = true;
    await this.#attachAndReload();
    this.#reloaded();
  }

  /** Watches the folders that are there now, and no others. */
  async #attach(): Promise<void> {
    const wanted = new Map<string, string>();
    for (const path of await this.#folders()) {
      const found = await stat(path).catch(() => undefined);
      if (found?.isDirectory()) wanted.set(`${path} ${found.ino}`, path);
    }
    if (this.#closed) return;
    for (const [id, watcher] of this.#watchers) {
      if (wanted.has(id)) continue;
      watcher.close();
      this.#watchers.delete(id);
    }
    for (const [id, path] of wanted) this.#watch(id, path);
  }

  async #folders(): Promise<readonly string[]> {
    const entries = await readdir(this.#directory, { withFileTypes: true }).catch(() => undefined);
    // The folder itself may appear later: the nearest folder above it reports that.
    if (!entries) return [await nearestParent(this.#directory)];
    const below = this.#options.subfolders ? entries.filter((entry) => entry.isDirectory()) : [];
    return [this.#directory, ...below.map(({ name }) => join(this.#directory, name))];
  }

  #watch(id: string, path: string): void {
    if (this.#watchers.has(id)) return;
    const failed = (error: unknown) => this.#options.log.warn("folder watch failed", { directory: path, error });
    try {
      const watcher = watch(path, { persistent: false }, () => this.#reloadIn(settleMs));
      watcher.on("error", failed);
      this.#watchers.set(id, watcher);
    } catch (error) {
      failed(error);
    }
  }

  reloadSoon(): void {
    this.#reloadIn(settleMs);
  }

  #reloadIn(ms: number): void {
    if (this.#closed) return;
    if (this.#reloading) {
      this.#changedMeanwhile = true;
      return;
    }
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, () => void this.#reload());
  }

  async #reload(): Promise<void> {
    this.#reloading = true;
    try {
      await this.#attachAndReload();
      this.#reloaded();
    } catch (error) {
      this.#options.log.warn("folder reload failed", { directory: this.#directory, error, retryInMs: retryMs });
      this.#reloading = this.#changedMeanwhile = false;
      this.#reloadIn(retryMs);
    }
  }

  async #attachAndReload(): Promise<void> {
    // Watched before it is read, so that a change during the reading is noticed, too.
    await this.#attach();
    await this.#options.reload();
  }

  #reloaded(): void {
    this.#reloading = false;
    if (!this.#changedMeanwhile) return;
    this.#changedMeanwhile = false;
    this.#reloadIn(settleMs);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }
}

async function nearestParent(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  const found = await stat(parent).catch(() => undefined);
  return found?.isDirectory() ? parent : nearestParent(parent);
}
