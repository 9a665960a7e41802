import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { certificateDefinition } from "../doubles/certificate-definition.ts";
import { interlock } from "../services/interlock.ts";

describe("interlock policy test", { timeout: 60_000 }, () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "interlock-policy-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  function file(name: string, text: string): string {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  }

  it("passes for the example rules", async () => {
    const { status, out } = await interlock(["policy", "test"]);

    expect(out).toMatch(/\n\d+ passed, 0 failed\n$/);
    expect(out).not.toContain("Rules that none of them is about");
    expect(status).toBe(0);
  });

  it("prints failed expectations and untested rules, and exits with 1", async () => {
    const expected = file(
      "expect.yaml",
      "tests:\n  - name: the wrong node\n    signal: { name: NodeDiskPressure, target: node/a }\n    expect: { target: node/b }\n",
    );

    const { status, out } = await interlock(["policy", "test", expected]);

    expect(status).toBe(1);
    expect(out).toContain(`FAIL  ${expected}:2  the wrong node`);
    expect(out).toContain("        target\n          expected  node/b\n          found     node/a\n");
    expect(out).toContain("Rules that none of them is about: evictions-by-node");
    expect(out).toContain("0 passed, 1 failed");
  });

  it("reports rules that can never be carried out, although no expectation is about them", async () => {
    const expected = file(
      "none.yaml",
      "tests:\n  - name: n\n    signal: { name: N, target: node/a }\n    expect: no match\n",
    );
    const rules = join(directory, "unfit-rules");
    mkdirSync(rules, { recursive: true });
    const rule =
      "{ name: unfit, match: { signalName: A, kind: Pod }, workflow: node-disk-cleanup, parameters: { colour: red } }";
    writeFileSync(join(rules, "r.yaml"), `rules:\n  - ${rule}\n`);

    const { status, out } = await interlock(["policy", "test", "--rules", rules, expected]);

    expect(status).toBe(1);
    expect(out).toContain("FAIL  rule unfit can never be carried out\n");
    expect(out).toContain("workflow node-disk-cleanup is not for a pod");
    expect(out).toContain("colour is not a parameter of this workflow");
    expect(out).toContain("1 passed, 1 failed");
  });

  it("warns of a rule that drops a label by which alerts of one incident differ", async () => {
    const alert = (mountpoint: string) =>
      `  - name: ${mountpoint}\n    alert: { labels: { alertname: NodeFull, node: a, mountpoint: ${mountpoint} } }\n    expect: { rule: full }\n`;
    const expected = file("mountpoints.yaml", `tests:\n${alert("/var")}${alert("/data")}`);
    const rules = join(directory, "dropping-rules");
    mkdirSync(rules, { recursive: true });
    const rule =
      "{ name: full, match: { signalName: NodeFull }, target: 'node/{{ labels.node }}', workflow: node-disk-cleanup }";
    writeFileSync(join(rules, "r.yaml"), `rules:\n  - ${rule}\n`);

    const { status, out } = await interlock(["policy", "test", "--rules", rules, expected]);

    expect(out).toContain("warn  rule full drops label mountpoint: ");
    expect(status).toBe(0);
  });

  describe("about a custom kind", () => {
    const rule = "{ name: renew, match: { signalName: Expires, kind: Certificate.cert-manager.io }, workflow: renew }";
    const expectation =
      "tests:\n  - name: renewed\n    signal: { name: Expires, target: web/certificates.cert-manager.io/shop }\n    expect: { rule: renew, target: web/certificate.cert-manager.io/shop, decision: allow }\n";
    const pipeline =
      "apiVersion: tekton.dev/v1\nkind: Pipeline\nmetadata: { name: workflow }\nspec:\n  tasks:\n    - name: renew\n      taskSpec:\n        steps:\n          - { name: renew, script: echo renewed }\n";
    const workflow =
      "workflowId: renew\nversion: 1.0.0\ndescription: Renews a certificate.\nengine: local\ntargetKinds: [certificate.cert-manager.io]\n";
    const declared =
      "kinds: { declared: [{ group: cert-manager.io, kind: Certificate, plural: certificates, scope: Namespaced }] }\n";

    /** The arguments of a test with these settings. */
    function prepared(settings: string): readonly string[] {
      const rules = join(directory, "custom-rules");
      const folder = join(directory, "custom-workflows", "renew");
      for (const path of [rules, folder]) mkdirSync(path, { recursive: true });
      writeFileSync(join(rules, "r.yaml"), `rules:\n  - ${rule}\n`);
      writeFileSync(join(folder, "workflow.yaml"), workflow);
      writeFileSync(join(folder, "pipeline.yaml"), pipeline);
      const config = file("custom.yaml", `execution: { workflowsDir: ${join(folder, "..")} }\n${settings}`);
      return ["policy", "test", "--rules", rules, "--config", config, file("custom-expect.yaml", expectation)];
    }

    it("accepts the kinds that the files of --crds define", async () => {
      const crds = join(directory, "crds");
      mkdirSync(crds, { recursive: true });
      writeFileSync(join(crds, "certificates.yaml"), `kind: Namespace\n---\n${stringify(certificateDefinition)}`);

      const { status, out } = await interlock([...prepared(""), "--crds", crds]);

      expect(out).toContain("1 passed, 0 failed");
      expect(status).toBe(0);
    });

    it("accepts the kinds that the configuration declares", async () => {
      const { status, out } = await interlock(prepared(declared));

      expect(out).toContain("1 passed, 0 failed");
      expect(status).toBe(0);
    });

    it("prints the required setting if the kind is unknown", async () => {
      const { status, err } = await interlock(prepared(""));

      expect(status).toBe(1);
      expect(err).toContain("certificates.cert-manager.io");
      expect(err).toContain("name its CustomResourceDefinition with --crds, or declare the kind");
    });

    it.each([
      ["nothing at that path", "nowhere.yaml"],
      ["a file without a definition", "package.json"],
    ])("refuses %s as --crds", async (_what, path) => {
      const { status, err } = await interlock([...prepared(""), "--crds", path]);

      expect(status).toBe(1);
      expect(err).toContain(`${path}: has no CustomResourceDefinition`);
    });
  });

  it("takes the cooldown from the configuration that is named", async () => {
    const config = file("config.yaml", "resource_locking: { cooldown_period: 30s }\n");

    const { status, out } = await interlock(["policy", "test", "--config", config]);

    expect(status).toBe(1);
    expect(out).toMatch(/FAIL .* a node that was cleaned up a minute ago waits/);
  });

  it.each([
    [["policy"], 2, "missing subcommand: test"],
    [["policy", "test", "nowhere.yaml"], 1, "nowhere.yaml: no such file of expectations"],
    [["policy", "test", "--rules", "docs"], 1, "docs: has no rules; name a folder with --rules"],
    [["policy", "test", "rules/node-disk-pressure.yaml"], 1, "tests must be a list of tests"],
  ])("with %j exits with %d and prints what to do", async (args, expected, problem) => {
    const { status, err } = await interlock(args);

    expect(status).toBe(expected);
    expect(err).toContain(problem);
  });
});
