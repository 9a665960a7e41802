import { describe, expect, it } from "vitest";
import { permittedClient } from "../../test/doubles/permitted-client.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import { defaultConfig } from "../config/index.ts";
import { parseTarget } from "../resources/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { operateContext } from "./operate-context.ts";

describe("the kinds of targets in the console of a cluster", () => {
  it("are read with the rights of the console, because its users need none to definitions", async () => {
    const clock = systemClock();
    const cluster = testCluster({ clock, random: systemRandom() });
    const kindsClient = permittedClient(cluster.client(), "console");
    // Any role without the right to list definitions.
    const client = permittedClient(cluster.client(), "notify");
    const recorded = () => Promise.reject(new TypeError("not read here"));
    const options = { loaded: defaultConfig(), client, clock, sharesExecutor: false, recorded };

    const { kinds } = operateContext({ ...options, kindsClient });

    expect(parseTarget("payment/deployment/api", await kinds())).toMatchObject({ kind: "target" });
    await expect(operateContext(options).kinds()).rejects.toMatchObject({ code: "forbidden" });
  });
});
