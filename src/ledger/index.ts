export { largestEventBytes } from "./event-text.ts";
export type { ChainProblem, ProblemKind } from "./file/chain.ts";
export { type FileLedgerOptions, openFileLedger } from "./file/file-ledger.ts";
export type { JournalLimits } from "./file/journal.ts";
export { ledgerWriter } from "./file/ledger-writer.ts";
export { readLedger } from "./file/read-ledger.ts";
export type { Head, LedgerRow } from "./file/row.ts";
export { type LedgerReport, verifyLedger, type WriterReport } from "./file/verify-ledger.ts";
export {
  type Fact,
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
  type LedgerEvent,
  type LedgerEventType,
  ledgerEventTypes,
} from "./ledger.ts";
export { type MemoryLedger, memoryLedger } from "./memory/memory-ledger.ts";
export { type LedgerObserver, observeLedger } from "./observe-ledger.ts";
