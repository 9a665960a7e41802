import { ledgerContract } from "../ledger.contract.ts";
import { memoryLedger } from "./memory-ledger.ts";

ledgerContract("memory", async () => {
  const ledger = memoryLedger();
  return { ledger, events: async () => ledger.events(), dispose: async () => {} };
});
