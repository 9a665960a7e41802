import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { listOutdated } from "../../scripts/generated-files.ts";
import { actionFiles } from "../../scripts/workflows.ts";
import { actions } from "../../src/actions/index.ts";
import { readWorkflowFile } from "../../src/engines/catalog/read-workflow-file.ts";
import { readCatalog } from "../../src/engines/index.ts";
import { builtInKinds } from "../../src/resources/index.ts";
import { interlock } from "../services/interlock.ts";

describe("the shipped files of the actions", () => {
  it("are up to date", () => {
    expect(listOutdated(actionFiles())).toEqual([]);
  });

  it("include a folder for every action", () => {
    expect(readdirSync("workflows")).toEqual(expect.arrayContaining(actions.map(({ name }) => name)));
  });

  it("are a catalog without problems, for every engine", async () => {
    const { workflows, problems } = await readCatalog("workflows", builtInKinds, { defaultEngine: "local" });
    const ids = workflows.map(({ spec }) => spec.workflowId);
    const readings = actions.flatMap(({ name }) =>
      ["job.yaml", "tekton.yaml"].map((file) => {
        const path = `workflows/${name}/${file}`;
        return readWorkflowFile({ path, text: readFileSync(path, "utf8"), folder: name }, builtInKinds);
      }),
    );

    expect(problems).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(actions.map(({ name }) => name)));
    expect(readings.filter(({ kind }) => kind === "invalid")).toEqual([]);
  });

  it.each(actions.map(({ name }) => name))("pass the values of %s to the step as variables only", (name) => {
    for (const file of ["pipeline.yaml", "bundle.yaml"]) {
      const { spec } = parse(readFileSync(`workflows/${name}/${file}`, "utf8"));
      const [step] = spec.tasks[0].taskSpec.steps;
      const { env, ...rest } = step;
      expect(JSON.stringify(rest)).not.toContain("$(");
      expect(env.map((variable: { name: string; value: string }) => variable.value)).toEqual(
        spec.params.map((parameter: { name: string }) => `$(params.${parameter.name})`),
      );
    }
  });

  it.each(actions.map((action) => [action.name, action] as const))(
    "grant %s its rights and no others",
    (name, action) => {
      const documents = parseAllDocuments(readFileSync(`workflows/${name}/rbac.yaml`, "utf8")).map((one) => one.toJS());
      const rules = documents.flatMap(({ rules = [] }) => rules);
      const granted = rules.flatMap(({ apiGroups, resources, verbs }) =>
        verbs.map((verb: string) => `${verb} ${resources} ${apiGroups}`),
      );
      const needed = action.rights.flatMap(({ verbs, resource, group }) =>
        verbs.map((verb) => `${verb} ${resource} ${group}`),
      );

      expect(granted.sort()).toEqual(needed.sort());
      expect(JSON.stringify(rules)).not.toContain("*");
      expect(documents[0]).toMatchObject({ kind: "ServiceAccount", metadata: { namespace: "kubernaut-workflows" } });
    },
  );
});

describe("the rule pack for kube-prometheus", () => {
  const { rules } = parse(readFileSync("rules/kube-prometheus/rules.yaml", "utf8"));

  it("only observes, and is not among the rules that are read by default", () => {
    expect(rules.filter(({ observe }: { observe?: boolean }) => observe !== true)).toEqual([]);
    expect(readdirSync("rules").filter((file) => file.endsWith(".yaml"))).toEqual(["node-disk-pressure.yaml"]);
  });

  it("answers exactly the alerts that the actions name, and each exists in kube-prometheus", () => {
    const answered = rules.flatMap(({ match }: { match: { signalName: string | string[] } }) => match.signalName);
    const corpus = readFileSync("test/gateway/alerts/corpus.txt", "utf8");

    expect(answered.sort()).toEqual(actions.flatMap(({ alerts }) => alerts).sort());
    for (const alert of answered) expect(corpus).toMatch(new RegExp(`^${alert} `, "m"));
  });

  it("has an expectation for every rule, and they hold", { timeout: 60_000 }, async () => {
    const folder = "rules/kube-prometheus";
    const { status, out } = await interlock(["policy", "test", "--rules", folder, `${folder}/tests/rules.yaml`]);

    expect(out).not.toContain("FAIL");
    expect(out).not.toContain("Rules that none of them is about");
    expect(status).toBe(0);
  });
});
