import { describe, expect, it } from "vitest";
import { TestCli } from "../../test/doubles/test-cli.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import { type KubeClient, KubeError } from "../kube/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { operatorName } from "./operator-name.ts";

const embedded = testCluster({ clock: systemClock(), random: systemRandom() }).client();

describe("the name of the operator", () => {
  it("is the user that the API server authenticated", async () => {
    const verifying: KubeClient = {
      ...embedded,
      create: async (type, object) =>
        type.kind === "SelfSubjectReview"
          ? { kind: "created", object: { ...object, status: { userInfo: { username: "kim@example.com" } } } }
          : { kind: "already-exists" },
    };

    expect(await operatorName(new TestCli(verifying))).toBe("kim@example.com");
  });

  it("is the user of the machine, marked as unverified, if the server does not distinguish users", async () => {
    expect(await operatorName(new TestCli(embedded))).toBe("kim (unverified)");
  });

  it("is an error while the server is unavailable", async () => {
    const away: KubeClient = { ...embedded, create: () => Promise.reject(new KubeError("unavailable", "it is away")) };

    await expect(operatorName(new TestCli(away))).rejects.toThrow("it is away");
  });
});
