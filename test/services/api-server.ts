import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dieWithUs, end, waitForOutput } from "./child.ts";
import { freePort } from "./free-port.ts";
import { interlockProgram } from "./program.ts";

/** `interlock api` as a process of its own. */
export interface ApiServer extends AsyncDisposable {
  readonly port: number;
  readonly kubeconfigFile: string;
  /** A kubeconfig for clients that reach it through a proxy at `port`. */
  kubeconfigAt(port: number): string;
  /** SIGKILL: it has no time to say or save anything. */
  kill(): Promise<void>;
  /** Runs it again on the same port and the same data. */
  start(): Promise<void>;
  /** Removes all objects, while it does not run. Token and certificate stay. */
  forget(): Promise<void>;
  /** SIGSTOP: connections stay open without a response. */
  pause(): void;
  resume(): void;
  /** Ends it and removes what it wrote. */
  stop(): Promise<void>;
}

/** Starts a real API server on a free loopback port. `program` replaces the usual one, for example by a mutant. */
export async function startApiServer({ program }: { readonly program?: string } = {}): Promise<ApiServer> {
  const dir = await mkdtemp(join(tmpdir(), "interlock-api-server-"));
  const port = await freePort();
  const kubeconfigFile = join(dir, "kubeconfig");
  const args = [program ?? (await interlockProgram()), "api", "--data", dir, "--listen", `127.0.0.1:${port}`];
  let child = await launch(args);

  const kill = () => end(child, "SIGKILL");

  async function stop() {
    await kill();
    await rm(dir, { recursive: true, force: true });
  }

  return {
    port,
    kubeconfigFile,
    kubeconfigAt(proxied) {
      const path = join(dir, `kubeconfig-${proxied}`);
      writeFileSync(path, readFileSync(kubeconfigFile, "utf8").replace(`:${port}`, `:${proxied}`), { mode: 0o600 });
      return path;
    },
    kill,
    async start() {
      child = await launch(args);
    },
    forget: () => rm(join(dir, "objects"), { recursive: true }),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function launch(args: readonly string[]): Promise<ChildProcess> {
  // Nothing of ours, such as a test runner's hooks, may run in it.
  const env = { ...process.env, NODE_OPTIONS: "" };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env });
  dieWithUs(child);
  await waitForOutput(child, /is running/);
  return child;
}
