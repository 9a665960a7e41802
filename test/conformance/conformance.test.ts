import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbeddedApi } from "../../src/app/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { replay } from "./replay.ts";
import { scenarios } from "./scenario.ts";
import { serverUnderTest, tokens } from "./server-under-test.ts";
import { Wire } from "./wire.ts";

/** What a real kube-apiserver 1.32 was recorded to answer. docs/embedded-api.md lists the scenarios that are left out, and why. */
describe("the embedded API server answers like kube-apiserver 1.32:", () => {
  let server: Awaited<ReturnType<typeof serverUnderTest>>;
  let wire: Wire;

  beforeAll(async () => {
    server = await serverUnderTest();
    wire = new Wire(server.url, tokens.admin);
  });

  afterAll(async () => {
    wire.close();
    await server.close();
  });

  it.each(scenarios().map((scenario) => [scenario.name, scenario.description, scenario] as const))(
    "%s (%s)",
    async (_name, _description, scenario) => {
      const compact = () => server.store.compact(server.store.revision);

      const results = await replay(scenario, { wire, run: "rconfor", compact });

      expect(results.filter(({ detail }) => !detail)).toEqual([]);
    },
    60_000,
  );
});

describe("a server whose versions began by the clock", () => {
  it("answers watches of any version like one that counts from the beginning", async () => {
    const directory = await mkdtemp(join(tmpdir(), "interlock-conformance-"));
    const [clock, random] = [systemClock(), systemRandom()];
    const log = silentLogger;
    const listen = { host: "127.0.0.1", port: 0 };
    const parts = { directory, listen, token: tokens.admin, clock, random, log };
    const server = await startEmbeddedApi({ ...parts, acceptPlainTokens: true });
    const wire = new Wire(server.url.replace("https:", "http:"), tokens.admin);
    const scenario = scenarios().find(({ name }) => name === "watch-errors");

    const results = scenario ? await replay(scenario, { wire, run: "rconfor", compact: () => {} }) : undefined;

    expect(results?.filter(({ detail }) => !detail)).toEqual([]);
    wire.close();
    await server.close();
    await rm(directory, { recursive: true });
  }, 60_000);
});
