import { kubernetesAbilities, kubernetesLockBench } from "../../../test/coordination/kubernetes-lock-bench.ts";
import { locksContract } from "../locks.contract.ts";

locksContract("kubernetes", async () => kubernetesLockBench(), { abilities: kubernetesAbilities });
