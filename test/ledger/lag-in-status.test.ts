import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { HealthReports, startHeartbeat } from "../../src/app/index.ts";
import { type LedgerDatabase, observeShipping, openFileLedger, shippedLedger } from "../../src/ledger/index.ts";
import { installCrds } from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { testCluster } from "../doubles/test-cluster.ts";

it("a ledger whose database is down for a minute makes interlock status unhealthy", async () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-lag-"));
  const [clock, random, log, metrics] = [new ManualClock(), systemRandom(), recordingLogger(), promMetrics()];
  const client = testCluster({ clock, random, namespaces: ["kubernaut-system"] }).client();
  await installCrds(client);
  const files = await openFileLedger({ directory, writer: "w-1", clock });
  const observer = observeShipping(metrics, () => ({ lag: ledger.lag(), journalBytes: 0 }));
  const ledger = shippedLedger({ ledger: files, database: databaseThatIsDown(), clock, random, log, observer });
  await ledger.append({ id: "1", type: "signal.resolved", at: new Date(clock.wallMs()).toISOString(), facts: {} });
  const beating = startHeartbeat({
    ...{ client, clock, log, metrics, directory, role: "executor", version: "1.0.0" },
    ...{ namespace: "kubernaut-system", intervalMs: 15_000, health: new HealthReports() },
    stages: () => [{ name: "executor", isReady: true }],
    watchProblems: () => [],
  });
  const cli = new TestCli(client, { clock });

  await clock.advance(75_000);
  const status = await cli.run("status");

  expect(status).toBe(1);
  expect(cli.read()).toMatch(
    /problem: the database lacks 1 event, the oldest for 1m\d*s?\n {2}next: bring the database back/,
  );
  await beating.close();
  const closing = ledger.close();
  await clock.advance(10_000);
  await closing;
  rmSync(directory, { recursive: true });
});

function databaseThatIsDown(): LedgerDatabase {
  const fails = () => Promise.reject(new Error("connection refused"));
  return new Proxy(
    { place: "postgres://ledger" },
    {
      get: (known, name) =>
        name in known ? known[name as keyof typeof known] : name === "close" ? async () => {} : fails,
    },
  ) as unknown as LedgerDatabase;
}
