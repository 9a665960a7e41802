import { memoryBackend } from "../../../test/coordination/claims-backends.ts";
import { claimsContract } from "../claims/claims.contract.ts";

claimsContract("memory", memoryBackend);
