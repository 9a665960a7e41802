export { hasAgent, openAgent } from "./agent.ts";
export { openCoder } from "./coder.ts";
export { type LocalConsole, loginUrl, openClusterConsole, openLocalUsers } from "./console.ts";
export { openCoordination } from "./coordination.ts";
export { makeDataDirectory } from "./data-directory.ts";
export { type EmbeddedApi, startEmbeddedApi } from "./embedded-api.ts";
export { openExecutor } from "./executor.ts";
export { factsLimits, factsReader } from "./facts.ts";
export { failAt } from "./fail-at.ts";
export { openGateway, type RunningGateway, webhookPath } from "./gateway.ts";
export { HealthReports } from "./health/health-reports.ts";
export { type RunningHeartbeat, stageHealth, startHeartbeat } from "./health/heartbeat.ts";
export { watchHealth } from "./health/watch-health.ts";
export { declaredKinds, openKinds } from "./kinds.ts";
export {
  checkpointKeys,
  type LedgerPlace,
  ledgerDirectory,
  openLedger,
  openLedgerDatabase,
  patienceMs,
  readRecorded,
  trustedKeys,
} from "./ledger.ts";
export { serveMetrics } from "./metrics.ts";
export { namesKnownSince } from "./names-known-since.ts";
export { openNotify } from "./notify.ts";
export { openObjects } from "./objects.ts";
export {
  chooseKubeconfig,
  connectApiServer,
  isOwnServer,
  openActionServer,
  openApiServer,
  openClient,
} from "./open-client.ts";
export { operateContext } from "./operate-context.ts";
export { openOrchestrator } from "./orchestrator.ts";
export { policySettings } from "./policy-settings.ts";
export { openPolling } from "./polling.ts";
export { agentNamespaces, logConfig, prepare, watermarkNamespaces } from "./prepare.ts";
export { openRules, type RulesAnalyzer } from "./rules.ts";
export { readRulesFolder, yamlFilesIn } from "./rules-folder.ts";
export { secretFile } from "./secret-file.ts";
export { findSignalPath, openAlertmanagerReader, signalPaths, signalRoutes } from "./signal-routes.ts";
export { type Stage, type StageOptions, toStage } from "./stage.ts";
export { startUp, type Up, upParts } from "./up.ts";
export { openWorkflows } from "./workflows.ts";
