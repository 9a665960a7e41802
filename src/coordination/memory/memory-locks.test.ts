import { memoryAbilities, memoryLockBench } from "../../../test/coordination/memory-lock-bench.ts";
import { locksContract } from "../locks/locks.contract.ts";

locksContract("memory", async () => memoryLockBench(), { abilities: memoryAbilities });
