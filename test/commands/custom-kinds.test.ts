import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeClient } from "../../src/kube/index.ts";
import { applyCertificates } from "../doubles/certificate-definition.ts";
import { until } from "../executor/processes/until.ts";
import type { Output } from "../services/interlock.ts";
import { UpProcess } from "../services/up-process.ts";

const route = { group: "route.openshift.io", kind: "Route", plural: "routes", scope: "Namespaced" };

describe("custom kinds, with interlock up running", { timeout: 60_000 }, () => {
  let up: UpProcess;
  let client: KubeClient;
  beforeAll(async () => {
    up = await UpProcess.start(
      {
        renew: { script: "echo renewed", entry: { targetKinds: ["certificate.cert-manager.io"] } },
        inspect: { script: "echo inspected", entry: { targetKinds: undefined } },
        expose: { script: "echo exposed", entry: { targetKinds: ["route.route.openshift.io"] } },
      },
      {
        settings: { kinds: { declared: [route] } },
        rules: [
          { name: "renew", match: { signalName: "CertificateExpires" }, workflow: "renew" },
          { name: "expose", match: { kind: "Route.route.openshift.io" }, workflow: "expose" },
        ],
      },
    );
    client = await up.client();
  });
  afterAll(() => up.stop());

  function receive(name: string, target: string, ...more: readonly string[]): Promise<Output> {
    const payload = join(up.directory, "alert.json");
    writeFileSync(payload, JSON.stringify({ name, target }));
    return up.interlock("receive", "generic", "-p", payload, ...more);
  }

  it("are refused with the reason, and work once their definition is applied, without a restart", async () => {
    const target = "web/certificates.cert-manager.io/shop";
    const refused = await receive("CertificateExpires", target);
    expect(`${refused.out}${refused.err}`).toContain("certificates.cert-manager.io");
    expect(`${refused.out}${refused.err}`).toContain("apply its CustomResourceDefinition, or declare the kind");
    const notRun = await up.interlock("run", "inspect", "--target", target);
    expect(notRun).toMatchObject({ status: 2, err: expect.stringContaining("apply its CustomResourceDefinition") });

    await applyCertificates(client);

    await until(
      "the same alert opens an incident",
      async () => (await receive("CertificateExpires", target)).status === 0,
    );
    const incident = "certificate.cert-manager.io/shop";
    await until("the workflow is loaded, and its execution ends", async () => {
      const { out } = await up.interlock("get", "executions");
      return out.includes(incident) && out.includes("Completed");
    });
    const why = await up.interlock("why", "web/cert.cert-manager.io/shop", "--workflow", "renew");
    expect(`${why.out}${why.err}`).toContain("web/certificate.cert-manager.io/shop");
    for (const workflow of ["renew", "inspect"]) {
      const run = await up.interlock("run", workflow, "--target", `web/cert.cert-manager.io/${workflow}`);
      expect(run.status).toBe(0);
    }
  });

  it("that are declared work everywhere without a definition", async () => {
    const dry = await receive("RouteDown", "web/routes.route.openshift.io/shop", "--dry-run");
    expect(dry.out).toContain("web/route.route.openshift.io/shop");
    expect(dry.out).toContain("expose: ");

    expect((await receive("RouteDown", "web/routes.route.openshift.io/shop")).status).toBe(0);
    await until("its execution ends", async () => {
      const { out } = await up.interlock("get", "executions");
      return /expose.*Completed|Completed.*expose/.test(out);
    });
    const run = await up.interlock("run", "expose", "--target", "web/Route.route.openshift.io/other");
    expect(run.status).toBe(0);
    const pause = await up.interlock("pause", "target", "web/routes.route.openshift.io/shop", "--reason", "test");
    expect(pause.out).toContain("web/route.route.openshift.io/shop");
  });
});
