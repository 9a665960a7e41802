import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  checkExpectation,
  defaultPolicy,
  deferralProblems,
  readExpectations,
  readRules,
} from "../../src/policy/index.ts";
import { builtInKinds, type RemediationWorkflow } from "../../src/resources/index.ts";
import { alertmanager, generic } from "../../src/sources/index.ts";

const rules = rulesIn("rules.yaml");
const expectations = expectationsIn("tests.yaml");
const { judgement } = parse(text("judgement.yaml")) as { judgement: readonly { name: string; because: string }[] };

describe("the 42 remediation scenarios", () => {
  it("are expressed by general rules, but for at most 8 that need human judgement", () => {
    expect(new Set([...expectations, ...judgement].map(({ name }) => name)).size).toBe(42);
    expect(judgement.length).toBeLessThanOrEqual(8);
  });

  it.each(expectations.map((expectation) => [expectation.name, expectation] as const))("%s", (_name, expectation) => {
    const { differences } = checkExpectation(expectation, {
      rules,
      workflow,
      kinds: builtInKinds,
      settings: defaultPolicy,
    });

    expect(differences).toEqual([]);
  });

  it("need every rule, and no rule waits in a cycle", () => {
    const used = expectations.map(({ expected }) => (expected.match ? expected.rule : undefined));

    expect(rules.map(({ name }) => name).filter((name) => !used.includes(name))).toEqual([]);
    expect(deferralProblems(rules)).toEqual([]);
  });

  it("are listed in docs/scenarios.md", () => {
    const page = readFileSync(new URL("../../docs/scenarios.md", import.meta.url), "utf8");

    for (const row of rows()) expect(page).toContain(row);
  });
});

function rows(): readonly string[] {
  const expressed = expectations.map(({ name, expected }) => {
    const { rule, workflow: id, target = "", decision } = expected.match ? expected : {};
    const waits = decision === "CauseOpen" ? ", after its cause" : "";
    return `| ${name} | \`${rule}\` | \`${id}\` on a ${target.split("/").at(-2)}${waits} |`;
  });
  return [...expressed, ...judgement.map(({ name, because }) => `| ${name} | a person decides | ${because} |`)];
}

/** Whatever a rule asks for: the scenarios are about rules, not about pipelines. */
function workflow(workflowId: string): RemediationWorkflow {
  const properties = { mountpoint: { type: "string" }, ceiling: { type: "string" } } as const;
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "RemediationWorkflow",
    metadata: { name: workflowId },
    spec: {
      workflowId,
      version: "1.0.0",
      description: "For the scenarios.",
      containerImage: workflowId,
      pipeline: "workflow",
      parameters: { properties },
    },
  };
}

function rulesIn(file: string) {
  const reading = readRules({ path: file, text: text(file) });
  if (reading.kind === "invalid") throw new Error(reading.problems.join("\n"));
  return reading.rules;
}

function expectationsIn(file: string) {
  const options = { kinds: builtInKinds, signals: generic, alerts: alertmanager };
  const reading = readExpectations({ path: file, text: text(file) }, options);
  if (reading.kind === "invalid") throw new Error(reading.problems.join("\n"));
  return reading.expectations;
}

function text(file: string): string {
  return readFileSync(new URL(`../../examples/scenarios/${file}`, import.meta.url), "utf8");
}
