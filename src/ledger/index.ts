export {
  type Fact,
  type Ledger,
  LedgerError,
  type LedgerEvent,
  type LedgerEventType,
  ledgerEventTypes,
} from "./ledger.ts";
export { type MemoryLedger, memoryLedger } from "./memory/memory-ledger.ts";
