import type { Locks } from "../../src/coordination/locks/locks.ts";
import { memoryLocks } from "../../src/coordination/memory/memory-locks.ts";
import { type VirtualBench, type VirtualBenchOptions, type VirtualProcess, virtualBench } from "./virtual-bench.ts";

export const memoryAbilities = [] as const;

/** Locks in one process; each further client is a process without access to the others. */
export function memoryLockBench(
  options?: VirtualBenchOptions,
  open: (process: VirtualProcess) => Locks = (process) => memoryLocks(process.options),
): VirtualBench {
  return virtualBench(() => ({ abilities: memoryAbilities, guarantee: "process", open }), options);
}
