import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLocked } from "../../src/disk/index.ts";
import { until } from "../executor/processes/until.ts";
import { hasEnded, waitForOutput } from "../services/child.ts";
import { freePort } from "../services/free-port.ts";
import { copyWorkingTree, npmEnv } from "../services/working-tree.ts";

// The first start installs everything from the configured registry.
describe("npm start in a clone without node_modules", { timeout: 600_000 }, () => {
  let clone: Clone;
  beforeAll(async () => {
    clone = await Clone.make();
  });
  afterAll(() => clone.remove());

  it("ends the installation, too, at SIGTERM to npm", async () => {
    const npm = clone.spawn();
    await waitForOutput(npm, /Installing/);

    npm.kill("SIGTERM");

    await once(npm, "exit");
    await until("no process works in the clone", async () => (await processesIn(clone.directory)).length === 0);
  });

  it("installs, builds and runs", async () => {
    const started = await clone.start();

    expect(started.output).toContain("Installing dependencies");
    expect(started.output).toContain("Building");
    expect(started.output).toContain("Interlock is running.");
    await started.stop();
  });

  it("neither installs nor builds at the next start", async () => {
    const started = await clone.start();

    expect(started.output).not.toMatch(/Installing|Building/);
    await started.stop();
  });

  it("builds again after a source file has changed", async () => {
    appendFileSync(join(clone.directory, "src", "main.ts"), "// Changed.\n");

    const started = await clone.start();

    expect(started.output).not.toContain("Installing");
    expect(started.output).toContain("Building");
    await started.stop();
  });

  it("installs again when the lock file names another version than the one installed", async () => {
    const installed = join(clone.directory, "node_modules", ".package-lock.json");
    const { packages } = JSON.parse(readFileSync(installed, "utf8"));
    writeFileSync(installed, JSON.stringify({ packages: { ...packages, "node_modules/yaml": { version: "0.0.1" } } }));

    const started = await clone.start();

    expect(started.output).toContain("Installing");
    await started.stop();
  });

  it.each([
    { signal: "SIGTERM", to: "npm alone" },
    { signal: "SIGINT", to: "npm alone" },
    // As a terminal does at Ctrl-C; npm then forwards it once more.
    { signal: "SIGINT", to: "npm and the server" },
  ] as const)("ends in order at $signal to $to, and frees its ports and its data directory", async ({ signal, to }) => {
    const started = await clone.start();
    expect(await isFree(clone.apiPort)).toBe(false);
    expect(await isLocked(clone.objectsDirectory)).toBe(true);

    const pid = started.npm.pid as number;
    process.kill(to === "npm alone" ? pid : -pid, signal);

    await until("npm has ended", () => hasEnded(started.npm));
    await until("the port of the API server is free", () => isFree(clone.apiPort));
    await until("the port of the gateway is free", () => isFree(clone.gatewayPort));
    await until("the data directory is unlocked", async () => !(await isLocked(clone.objectsDirectory)));
    await until("it has stopped in order", () => started.output.includes("Interlock has stopped."));
  });
});

/** The files of the working tree, committed or not, in a directory of their own. */
class Clone {
  readonly directory = mkdtempSync(join(tmpdir(), "interlock-clone-"));
  readonly apiPort: number;
  readonly gatewayPort: number;
  readonly #spawned: ChildProcess[] = [];

  private constructor(apiPort: number, gatewayPort: number) {
    this.apiPort = apiPort;
    this.gatewayPort = gatewayPort;
  }

  static async make(): Promise<Clone> {
    const clone = new Clone(await freePort(), await freePort());
    await copyWorkingTree(clone.directory);
    writeFileSync(join(clone.directory, "settings.yaml"), `gateway:\n  listen: 127.0.0.1:${clone.gatewayPort}\n`);
    return clone;
  }

  get objectsDirectory(): string {
    return join(this.directory, ".data", "objects");
  }

  spawn(): ChildProcess {
    const args = ["start", "--", "--listen", `127.0.0.1:${this.apiPort}`, "--config", "settings.yaml"];
    // A group of its own, as a shell gives to what is typed.
    const npm = spawn("npm", args, { cwd: this.directory, env: npmEnv(), stdio: "pipe", detached: true });
    this.#spawned.push(npm);
    return npm;
  }

  async start(): Promise<Started> {
    const started = new Started(this.spawn());
    await waitForOutput(started.npm, /Next, in a second terminal:/);
    return started;
  }

  remove(): void {
    for (const npm of this.#spawned) killGroup(npm);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A running `npm start`. */
class Started {
  readonly npm: ChildProcess;
  #output = "";

  constructor(npm: ChildProcess) {
    this.npm = npm;
    for (const stream of [npm.stdout, npm.stderr]) {
      stream?.on("data", (chunk) => {
        this.#output += String(chunk);
      });
    }
  }

  /** Everything that was printed until now. */
  get output(): string {
    return this.#output;
  }

  /** Returns when the server, which shares the output of npm, has ended, too. */
  async stop(): Promise<void> {
    this.npm.kill("SIGTERM");
    await once(this.npm, "close");
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), "SIGKILL");
  } catch {
    // It has ended already.
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

async function isLocked(directory: string): Promise<boolean> {
  const handle = await openLocked(directory);
  await handle?.close();
  return handle === undefined;
}

/** Ids of the processes whose working directory is `directory`. */
async function processesIn(directory: string): Promise<readonly string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const workingIn = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => undefined)));
  return ids.filter((_, i) => workingIn[i] === directory);
}
