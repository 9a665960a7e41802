export { type Checkpoint, readCheckpoint } from "./checkpoints/checkpoint.ts";
export {
  generateKeyFiles,
  parseSigningKey,
  readSigningKey,
  readTrustedKeys,
  type SigningKey,
  type TrustedKey,
} from "./checkpoints/keys.ts";
export { type CheckpointOutcome, makeCheckpoint } from "./checkpoints/make-checkpoint.ts";
export { startCheckpoints } from "./checkpoints/start-checkpoints.ts";
export { verifyCheckpointInDatabase, verifyCheckpointInJournals } from "./checkpoints/verify-checkpoint.ts";
export { type LedgerDatabase, ledgerDatabase } from "./database/ledger-database.ts";
export { postgresStore } from "./database/postgres/postgres-store.ts";
export { type SqliteStoreOptions, sqliteStore } from "./database/sqlite/sqlite-store.ts";
export { verifyDatabase } from "./database/verify-database.ts";
export { verifyHandOver } from "./database/verify-hand-over.ts";
export { type EventFilter, isWanted, listSubjects } from "./event-filter.ts";
export { type LedgerEventType, ledgerEventTypes } from "./event-types/index.ts";
export type { ChainProblem } from "./file/chain.ts";
export { type FileLedger, type FileLedgerOptions, openFileLedger } from "./file/file-ledger.ts";
export { readLedger } from "./file/read-ledger.ts";
export type { Head, LedgerRow } from "./file/row.ts";
export { verifyLedger } from "./file/verify-ledger.ts";
export type { LedgerReport } from "./file/witnesses.ts";
export { journalWriters, ledgerWriter } from "./file/writers.ts";
export { type Fact, type Ledger, LedgerError, type LedgerEvent } from "./ledger.ts";
export { type MemoryLedger, memoryLedger } from "./memory/memory-ledger.ts";
export { observeLedger } from "./observe-ledger.ts";
export { observeShipping } from "./shipping/observe-shipping.ts";
export { type Leftover, shipLeftovers } from "./shipping/ship-leftovers.ts";
export { shippedLedger } from "./shipping/shipped-ledger.ts";
export { verifyClaims } from "./verification/claims.ts";
export { verifyOverlap } from "./verification/verify-overlap.ts";
