import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import type { LedgerEvent } from "../../ledger/index.ts";
import { installCrds } from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";

const fingerprint = `v1:${"a".repeat(64)}`;

describe("interlock why, of a signal without effect,", () => {
  let cli: TestCli;
  let events: LedgerEvent[];
  beforeEach(async () => {
    const client = testCluster({ clock: new ManualClock(), random: systemRandom(), namespaces: ["payment"] }).client();
    await installCrds(client);
    const facts = { signal_source: "alertmanager", sender: "am", severity: "warning" };
    events = [
      row("signal.ignored", 1, {
        ...facts,
        fingerprint,
        signal_name: "Watchdog",
        because: "it names no object to act on",
      }),
      row("signal.refused", 2, {
        ...facts,
        signal_name: "DiskFull",
        target_resource: "node/worker-1",
        subject: "node/worker-1",
        because: "it is not in scope",
        fix: "kubectl label node worker-1 kubernaut.ai/managed=true",
        collapsed: 7,
      }),
      row("signal.ignored", 3, { signal_source: "pagerduty", sender: "pagerduty", because: "another type of event" }),
    ];
    cli = new TestCli(client, { events: () => events });
  });

  it.each([
    ["signal:Watchdog", "Watchdog: ignored", "because      it names no object to act on"],
    [fingerprint, "Watchdog: ignored", "reported     by am at 2026-03-01T12:00:01.000Z, source alertmanager"],
    ["signal:pagerduty", "a payload of pagerduty: ignored", "because      another type of event"],
    ["signal:DiskFull", "DiskFull on node/worker-1: refused", "repeats      7 more"],
    [
      "node/worker-1 --workflow cleanup",
      "DiskFull on node/worker-1: refused",
      "to change it kubectl label node worker-1",
    ],
  ])("finds it by %s", async (subject, first, second) => {
    const status = await cli.run("why", ...subject.split(" "));

    const text = cli.read();
    expect(status).toBe(0);
    expect(text).toContain(first);
    expect(text).toContain(second);
  });

  it("prints that the ledger has none", async () => {
    await expect(cli.run("why", "signal:Unheard")).rejects.toThrow("the ledger has no signal of that kind");
  });
});

function row(type: LedgerEvent["type"], second: number, facts: LedgerEvent["facts"]): LedgerEvent {
  return { id: `${type}/${second}`, type, at: `2026-03-01T12:00:0${second}.000Z`, facts };
}
