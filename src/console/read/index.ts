export { readConsoleCatalog } from "./catalog.ts";
export { readExecution } from "./execution-detail.ts";
export { type NamedObject, readIncident } from "./incident-detail.ts";
export { type LedgerQuery, readLedgerChains, readLedgerPage } from "./ledger-page.ts";
export type { LedgerReader, ReadContext, SignalPreview } from "./read-context.ts";
export { readRuleTest, testSignals } from "./rule-test.ts";
export { readStorm } from "./storm.ts";
export { readTarget } from "./target-detail.ts";
