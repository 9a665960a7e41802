import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** `interlock gateway` as a process of its own. */
export interface GatewayProcess extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** SIGKILL: it has no time to say or save anything. */
  kill(): Promise<void>;
  /** SIGTERM: it answers what is under way and writes what it has counted. */
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** A gateway on a free port, with `directory` as its own. `env` are settings. */
export async function startGatewayProcess(
  kubeconfig: string,
  directory: string,
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const args = ["--import", "tsx", main, "gateway", "--kubeconfig", kubeconfig, "--data", directory];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // Nothing of ours, such as a test runner's hooks, may run in it.
    env: { ...process.env, NODE_OPTIONS: "", GATEWAY_LISTEN: "127.0.0.1:0", GATEWAY_SCOPE: "all", ...env },
  });
  // A test run that is cut short must not leave processes behind.
  const killed = () => void child.kill("SIGKILL");
  process.once("exit", killed);
  child.once("exit", () => process.off("exit", killed));
  const url = await urlOf(child);
  const [, token = ""] = /^local (\S+)$/m.exec(await readFile(join(directory, "gateway-tokens"), "utf8")) ?? [];
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  return {
    url,
    token,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    [Symbol.asyncDispose]: () => end("SIGKILL"),
  };
}

function urlOf(child: ChildProcess): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const [, url] = /signals +(http:\S+)\/api\/v1\/signals /.exec(said) ?? [];
      if (url) resolve(url);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", (code, signal) => reject(new Error(`interlock gateway ended with ${code ?? signal}:\n${said}`)));
  });
}
