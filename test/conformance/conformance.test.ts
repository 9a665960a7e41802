import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
