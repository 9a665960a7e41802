import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

/**
 * Runs `work` with this process and Redis on a CPU each, as if Redis were on another machine. Left to itself, the
 * scheduler now and then puts both on one CPU: round trips then take half as long, nothing overlaps, and two runs
 * cannot be compared.
 */
export async function apart<T>(redisPid: number, work: () => Promise<T>): Promise<T> {
  const last = cpus().length - 1;
  if (last === 0 || !pin(redisPid, `${last}`) || !pin(process.pid, "0")) {
    console.log("\nNo two CPUs, or no taskset: client and Redis are not kept apart, so A varies from run to run.");
  }
  try {
    return await work();
  } finally {
    pin(redisPid, `0-${last}`);
    pin(process.pid, `0-${last}`);
  }
}

function pin(pid: number, cpuList: string): boolean {
  return spawnSync("taskset", ["-c", "-p", cpuList, `${pid}`]).status === 0;
}
