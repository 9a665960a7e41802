import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dieWithUs, end } from "../services/child.ts";
import type { JobOptions } from "./job-controller.ts";
import type { RunningDouble } from "./run-controller.ts";
import type { TektonOptions } from "./tekton-controller.ts";

/** What bundles and images do, for both doubles. */
export type Behaviours = Pick<TektonOptions, "bundles"> & Pick<JobOptions, "images">;

/** Both doubles in a process of their own, on the API server of a kubeconfig. What they complain about is printed. */
export async function startControllers(kubeconfigFile: string, behaviours: Behaviours): Promise<RunningDouble> {
  const directory = await mkdtemp(join(tmpdir(), "interlock-doubles-"));
  const table = join(directory, "behaviours.json");
  await writeFile(table, JSON.stringify(behaviours));
  const program = fileURLToPath(new URL("./controllers-worker.ts", import.meta.url));
  // Nothing of ours, such as a test runner's hooks, may run in it.
  const env = { ...process.env, NODE_OPTIONS: "" };
  const args = ["--import", "tsx", program, kubeconfigFile, table];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  const exited = once(child, "exit");
  dieWithUs(child, "SIGTERM");
  await Promise.race([
    once(child.stdout, "data"),
    exited.then(([code]) => Promise.reject(new Error(`the doubles ended with ${code} before they were ready`))),
  ]);
  return {
    async stop() {
      await end(child, "SIGTERM");
      await rm(directory, { recursive: true });
    },
  };
}
