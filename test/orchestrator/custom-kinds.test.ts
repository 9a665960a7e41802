import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Analyzer } from "../../src/orchestrator/index.ts";
import { diagnose, type Rule } from "../../src/policy/index.ts";
import { type KindsCache, watchKinds } from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { applyCertificates, deleteCertificates } from "../doubles/certificate-definition.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { OrchestratorWorld } from "./orchestrator-world.ts";

const rule: Rule = {
  name: "renew",
  match: { signalName: "CertificateExpires" },
  target: "default/cert.cert-manager.io/{{ labels.cert }}",
  workflow: "cleanup",
};
const signal = { signalName: "CertificateExpires", signalLabels: { cert: "shop" } };
const target = "default/certificate.cert-manager.io/shop";

let world: OrchestratorWorld;
let stop: AbortController;
let kinds: KindsCache;
beforeEach(async () => {
  world = await OrchestratorWorld.open();
  stop = new AbortController();
  kinds = watchKinds({
    client: permittedClient(world.client, "orchestrator"),
    declared: [],
    clock: world.clock,
    random: systemRandom(),
    signal: stop.signal,
    problem: () => {},
  });
});
afterEach(async () => {
  await world.close();
  stop.abort();
});

describe("an incident whose rule acts on a custom kind", () => {
  it("is blocked with the fix while the kind is unknown, and continues when its definition is applied", async () => {
    await world.orchestrator({ kinds, analyzer: analyzerOf(rule) });
    const name = await world.incident("expires", signal);
    const { phase, block } = await world.status(name);
    expect(phase).toBe("Blocked");
    expect(block?.message).toContain("cert.cert-manager.io");

    await applyCertificates(world.client);
    await world.passTime(1_000);

    expect(await world.status(name)).toMatchObject({ phase: "Executing", diagnosis: { target } });
  });

  it("continues when the definition of a kind that its workflow names is applied", async () => {
    const renew = { ...rule, target: "node/worker-1", workflow: "renew" };
    await world.workflow({ workflowId: "renew", targetKinds: ["node", "certificate.cert-manager.io"] });
    await world.orchestrator({ kinds, analyzer: analyzerOf(renew) });
    const name = await world.incident("expires", signal);
    const { phase, block } = await world.status(name);
    expect(phase).toBe("Blocked");
    expect(block?.message).toContain('is "certificate.cert-manager.io", which is not a known kind');

    await applyCertificates(world.client);
    await world.passTime(1_000);

    expect((await world.status(name)).phase).toBe("Executing");
  });

  it("is blocked again, and explained by why, if the definition is deleted while it waits", async () => {
    await applyCertificates(world.client);
    await world.workflow({ workflowId: "asks", approval: { required: true } });
    await world.orchestrator({ kinds, analyzer: analyzerOf({ ...rule, workflow: "asks" }) });
    const name = await world.incident("expires", signal);
    expect((await world.status(name)).phase).toBe("AwaitingApproval");

    await deleteCertificates(world.client);
    await world.passTime(1_000);

    const { phase, block } = await world.status(name);
    expect(phase).toBe("Blocked");
    expect(block?.message).toContain("cert.cert-manager.io");
    const cli = new TestCli(world.client, { clock: world.clock, events: () => world.ledger.events() });
    expect(await cli.run("why", name)).toBe(0);
    expect(cli.read()).toContain("cert.cert-manager.io");
  });
});

/** Rules that are evaluated with the kinds of the moment, as those in files are. */
function analyzerOf(...rules: readonly Rule[]): Analyzer {
  return { analyze: async (incident) => diagnose(incident, rules, kinds.current), subscribe: () => () => {} };
}
