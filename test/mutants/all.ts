import { actionMutants } from "./actions.ts";
import { foundationMutants } from "./foundations.ts";
import type { Mutant } from "./mutant.ts";
import { policyMutants } from "./policy.ts";
import { securityMutants } from "./security.ts";
import { stageMutants } from "./stages.ts";

export const allMutants: readonly Mutant[] = [
  ...policyMutants,
  ...stageMutants,
  ...actionMutants,
  ...foundationMutants,
  ...securityMutants,
];
