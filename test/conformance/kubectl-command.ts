import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A recorded command line, and what it printed against the real server. */
export interface KubectlCommand {
  readonly cmd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly exitCode: number;
  readonly stdoutPattern?: string;
  readonly stderrPattern?: string;
}

const folder = join(import.meta.dirname, "kubectl");

/** The commands of the transcript, to be run in this order, in `namespace`. */
export function kubectlCommands(namespace: string): KubectlCommand[] {
  const text = readFileSync(join(folder, "commands.json"), "utf8");
  return JSON.parse(text.replace(/\$\{ns\}/g, namespace));
}

export interface Shell {
  readonly home: string;
  readonly kubeconfig: string;
}

export interface Printed {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line with nothing of this machine's kubectl configuration in sight. */
export function shell(line: string, { home, kubeconfig }: Shell, env: KubectlCommand["env"] = {}): Promise<Printed> {
  return new Promise((resolve) => {
    const command = spawn("sh", ["-c", line], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: home, KUBECONFIG: kubeconfig, LC_ALL: "C", TZ: "UTC", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    command.stdout.on("data", (text) => (stdout += text));
    command.stderr.on("data", (text) => (stderr += text));
    command.on("close", (code) => resolve({ exitCode: code ?? 128, stdout, stderr }));
  });
}
