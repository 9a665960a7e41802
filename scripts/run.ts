import { spawn } from "node:child_process";

/** Runs a command with the output of this process; resolves to its exit code. */
export function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, ...env } });
    child.on("error", () => resolve(127));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/** Whether the program is on the PATH. */
export function isInstalled(program: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    child.on("exit", (code) => resolve(code === 0));
  });
}
