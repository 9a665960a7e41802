import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dieWithUs, end, waitForOutput } from "./child.ts";
import { interlockProgram } from "./program.ts";

/** `interlock gateway` as a process of its own. */
export interface GatewayProcess extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** SIGKILL: it has no time to say or save anything. */
  kill(): Promise<void>;
  /** SIGTERM: it answers what is under way and writes what it has counted. */
  stop(): Promise<void>;
}

/** A gateway on a free port, with `directory` as its own. `env` are settings. */
export async function startGatewayProcess(
  kubeconfig: string,
  directory: string,
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const args = [await interlockProgram(), "gateway", "--kubeconfig", kubeconfig, "--data", directory];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // Nothing of ours, such as a test runner's hooks, may run in it.
    env: { ...process.env, NODE_OPTIONS: "", GATEWAY_LISTEN: "127.0.0.1:0", GATEWAY_SCOPE: "all", ...env },
  });
  dieWithUs(child);
  const [, url = ""] = await waitForOutput(child, /signals +(http:\S+)\/api\/v1\/signals /);
  const [, token = ""] = /^local (\S+)$/m.exec(await readFile(join(directory, "gateway-tokens"), "utf8")) ?? [];
  return {
    url,
    token,
    kill: () => end(child, "SIGKILL"),
    stop: () => end(child, "SIGTERM"),
    [Symbol.asyncDispose]: () => end(child, "SIGKILL"),
  };
}
