import { describe, expect, it } from "vitest";
import { staleDeployFiles } from "../../scripts/deploy.ts";
import {
  executionTransitions,
  type Kind,
  read,
  remediationApprovalRequests,
  resourceKinds,
  type StructuralSchema,
  toCrd,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { brokenRules } from "./cel.ts";
import { executionSample, object, samplesOf } from "./samples.ts";
import { structuralViolations } from "./structural-rules.ts";

describe("deploy", () => {
  it("is the current output of the generator", () => {
    expect(staleDeployFiles()).toEqual([]);
  });
});

describe("the definitions", () => {
  it("are eight, with their plural and short names", () => {
    const names = resourceKinds.map((kind) => [toCrd(kind).metadata.name, kind.shortName]);

    expect(names).toEqual([
      ["remediationrequests.kubernaut.ai", "rr"],
      ["workflowexecutions.kubernaut.ai", "wfe"],
      ["remediationtargets.kubernaut.ai", "rt"],
      ["remediationworkflows.kubernaut.ai", "rw"],
      ["notificationrequests.kubernaut.ai", "notif"],
      ["remediationapprovalrequests.kubernaut.ai", "rar"],
      ["automationpauses.kubernaut.ai", "pause"],
      ["codingtasks.kubernaut.ai", "ct"],
    ]);
  });
});

describe.each(resourceKinds.map((kind) => ({ name: kind.kind, kind })))("the definition of $name", ({ kind }) => {
  const { spec } = toCrd(kind);
  const [version] = spec.versions;
  const schema = schemaOf(kind);

  it("is served, stored, namespaced, has a status of its own and belongs to us", () => {
    expect(version).toMatchObject({ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } });
    expect(spec).toMatchObject({ group: "kubernaut.ai", scope: "Namespaced" });
    expect(toCrd(kind).metadata.labels).toEqual({ "app.kubernetes.io/managed-by": "interlock" });
  });

  it("keeps every rule for structural schemas, and describes every field", () => {
    expect(structuralViolations(schema)).toEqual([]);
    expect(schema.properties).toMatchObject({ metadata: { type: "object" } });
  });

  it("has columns and selectable fields that exist", () => {
    const paths = (version?.additionalPrinterColumns ?? []).map(({ jsonPath }) => jsonPath);
    const selectable = (version?.selectableFields ?? []).map(({ jsonPath }) => jsonPath);

    expect(paths.filter((path) => !path.startsWith(".metadata.") && !fieldAt(schema, path))).toEqual([]);
    expect(selectable.filter((path) => fieldAt(schema, path)?.type !== "string")).toEqual([]);
  });

  it("refuses to change any field of a spec", () => {
    const [sample] = samplesOf(kind).map((each) => Reflect.get(each, "spec"));
    const rules = fieldAt(schema, ".spec") as StructuralSchema;

    expect(brokenRules(rules, sample, sample)).toEqual([]);
    for (const [field, value] of Object.entries(sample)) {
      expect(brokenRules(rules, { ...sample, [field]: otherThan(value) }, sample), field).not.toEqual([]);
    }
  });

  it("accepts every valid sample, when it is created and when it is updated", () => {
    for (const sample of samplesOf(kind)) {
      expect(brokenRules(schema, sample)).toEqual([]);
      expect(brokenRules(schema, sample, sample)).toEqual([]);
    }
  });

  it("refuses a phase or variant without its fields, as our own schema does", () => {
    for (const sample of samplesOf(kind)) {
      for (const lesser of withoutOneFact(sample)) {
        const complaints = problems(kind, lesser);
        const missing = missingFields(schema, lesser);
        // A server looks at its rules only when no required field is missing.
        const byServer = missing.length > 0 ? missing : brokenRules(schema, lesser);

        expect(byServer.length > 0, `${complaints} / ${byServer}`).toBe(complaints.length > 0);
      }
    }
  });
});

describe("the server's rules for an execution", () => {
  const schema = schemaOf(workflowExecutions);
  const phases = Object.keys(executionTransitions) as (keyof typeof executionTransitions)[];

  it.each(phases.flatMap((from) => phases.map((to) => ({ from, to }))))(
    "decide whether $from may become $to",
    ({ from, to }) => {
      const allowed: readonly string[] = [from, ...executionTransitions[from]];

      const refused = brokenRules(fieldAt(schema, ".status") as StructuralSchema, { phase: to }, { phase: from });

      expect(refused.includes(`the phase cannot change from ${from} to ${to}`)).toBe(!allowed.includes(to));
    },
  );

  it.each(["payment-api", "a/b/c/d", "a b/node/c"])("refuse the target %j with a sentence", (targetResource) => {
    const { spec } = executionSample();
    const written = object(workflowExecutions, { spec: { ...spec, targetResource } });

    expect(brokenRules(schema, written)).toEqual(["must be namespace/kind/name or kind/name, or git:host/path@branch"]);
  });
});

describe("the server's rules for an answered approval", () => {
  const schema = schemaOf(remediationApprovalRequests);
  const answer = {
    decision: "Approved",
    decidedBy: "kim",
    decidedVia: "command line",
    decidedAt: "2026-11-15T12:00:00Z",
    decisionMessage: "looked at it",
  };
  const spec = {};
  const broken = (status: object | undefined, before: object | undefined) =>
    brokenRules(schema, { spec, ...(status && { status }) }, { spec, ...(before && { status: before }) });

  it.each([
    ["decision", "Rejected"],
    ["decidedBy", "eve"],
    ["decidedVia", "slack"],
    ["decidedAt", "2026-11-15T13:00:00Z"],
    ["decisionMessage", "something else"],
  ])("refuse to change or remove its %s", (field, other) => {
    const { [field as keyof typeof answer]: _, ...without } = answer;

    expect(broken({ ...answer, [field]: other }, answer)).toEqual(["this was decided already: Approved"]);
    if (field !== "decision") expect(broken(without, answer)).toContain("this was decided already: Approved");
  });

  it("refuse to remove the answer", () => {
    expect(broken(undefined, answer)).toEqual(["this was decided already: an answer cannot be withdrawn"]);
  });

  it("allow to give it, and conditions beside it", () => {
    expect(broken(answer, undefined)).toEqual([]);
    expect(broken({ ...answer, conditions: [] }, answer)).toEqual([]);
  });
});

function schemaOf(kind: Kind): StructuralSchema {
  return toCrd(kind).spec.versions[0]?.schema?.openAPIV3Schema as StructuralSchema;
}

function fieldAt(schema: StructuralSchema, path: string): StructuralSchema | undefined {
  let field: StructuralSchema | undefined = schema;
  const filters = /\[\?\([^)]*\)\]/g;
  for (const name of path.slice(1).replace(filters, ".*").split(".")) {
    field = name === "*" ? field?.items : field?.properties?.[name];
  }
  return field;
}

/** `sample` with one field of its spec or status missing, in every way. */
function withoutOneFact(sample: object): object[] {
  return (["spec", "status"] as const).flatMap((part) => {
    const content = Reflect.get(sample, part);
    return Object.keys(content ?? {}).map((name) => ({ ...sample, [part]: { ...content, [name]: undefined } }));
  });
}

function problems(kind: Kind, value: object): string[] {
  const reading = read(kind, JSON.parse(JSON.stringify(value)));
  return reading.kind === "invalid" ? reading.problems.map(({ sentence }) => sentence) : [];
}

function missingFields({ properties = {}, required = [] }: StructuralSchema, value: object): string[] {
  const missing = required.filter((name) => Reflect.get(value, name) === undefined);
  const deeper = Object.entries(properties).flatMap(([name, child]) => {
    const part = Reflect.get(value, name);
    return part !== null && typeof part === "object" && !Array.isArray(part) ? missingFields(child, part) : [];
  });
  return [...missing, ...deeper];
}

function otherThan(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, ...value, "more"];
  if (typeof value === "object") return { ...value, added: "more" };
  return typeof value === "string" ? `${value} and more` : !value;
}
