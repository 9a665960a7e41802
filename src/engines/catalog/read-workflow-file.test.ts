import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../resources/index.ts";
import { readWorkflowFile } from "./read-workflow-file.ts";

const plain = `workflowId: node-disk-cleanup
version: 1.4.0
description: Removes old logs.
engine: tekton
containerImage: registry.example/cleanup:1.4
targetKinds: [node]
cooldown: 10m
timeout: 5m
approval: { required: true, expiresAfter: 1h }
parameters:
  properties:
    keep: { type: integer, minimum: 1, default: 3 }
  required: [keep]
`;

describe("a workflow file", () => {
  it("with the content of a spec becomes an entry with a derived name", () => {
    expect(reading(plain)).toEqual({
      kind: "valid",
      workflow: {
        apiVersion: "kubernaut.ai/v1alpha1",
        kind: "RemediationWorkflow",
        metadata: { name: expect.stringMatching(/^node-disk-cleanup-1-4-0-[0-9a-v]{8}$/) },
        spec: {
          workflowId: "node-disk-cleanup",
          version: "1.4.0",
          description: "Removes old logs.",
          engine: "tekton",
          containerImage: "registry.example/cleanup:1.4",
          pipeline: "workflow",
          targetKinds: ["node"],
          cooldown: "10m",
          timeout: "5m",
          approval: { required: true, expiresAfter: "1h" },
          parameters: { properties: { keep: { type: "integer", minimum: 1, default: 3 } }, required: ["keep"] },
        },
      },
    });
  });

  it("with a whole object becomes the same entry", () => {
    expect(reading(whole(plain))).toEqual(reading(plain));
  });

  it("of the local engine has its own folder as the image", () => {
    const local = "{ workflowId: a, version: '1', description: d, engine: local }";

    expect(reading(local)).toMatchObject({ kind: "valid", workflow: { spec: { containerImage: "cleanup" } } });
  });

  it.each([
    ["nothing", "", "1: must be a RemediationWorkflow, or the content of its spec"],
    ["a list", "- a", "1: must be a RemediationWorkflow, or the content of its spec"],
    ["no YAML", "a: b: c", "1: there is a second colon in the line. Put the value in 'single quotes'."],
    ["a name twice", `${plain}version: 2.0.0\n`, "14: the name is there twice. Keep one of the two."],
    ["a field that is missing", plain.replace(/description.*\n/, ""), "1: description is missing"],
    ["a field of another type", plain.replace("1.4.0", "1.4"), "2: version must be text, not a number"],
    [
      "an unknown field",
      plain.replace("cooldown", "coolDown"),
      "7: coolDown is not a known field; did you mean cooldown?",
    ],
    [
      "a duration that is none",
      plain.replace("10m", "10 minutes"),
      "7: cooldown must be a duration such as 500ms, 30s or 1h30m",
    ],
    [
      "something that comes later",
      `${plain}lockGroups: [a]\n`,
      "14: lockGroups must be empty: lock groups are not supported yet",
    ],
    [
      "an unknown kind",
      plain.replace("[node]", "[nodde]"),
      '6: targetKinds[0] is "nodde", which is not a known kind: write kinds that are not built in with their group, as in certificate.cert-manager.io',
    ],
    [
      "a default that does not fit",
      plain.replace("default: 3", "default: 0"),
      "12: parameters.properties.keep.default must be at least 1",
    ],
    [
      "a parameter that is missing",
      plain.replace("required: [keep]", "required: [days]"),
      "13: parameters.required[0] names days, which is not among the properties",
    ],
  ])("with %s is refused with line, path and problem", (_what, text, problem) => {
    expect(reading(text)).toEqual({ kind: "invalid", problems: [`workflows/cleanup/workflow.yaml:${problem}`] });
  });

  it("is rejected with all problems at once", () => {
    const text = plain.replace("1.4.0", "1.4").replace("10m", "soon").replace("timeout", "timeOut");

    const { kind, problems } = reading(text) as { kind: string; problems: string[] };

    expect(kind).toBe("invalid");
    expect(problems.map((problem) => problem.split(":")[1])).toEqual(["2", "7", "8"]);
  });

  it("with a whole object is rejected with the paths of the file", () => {
    expect(reading(whole(plain.replace("10m", "soon")))).toEqual({
      kind: "invalid",
      problems: ["workflows/cleanup/workflow.yaml:10: spec.cooldown must be a duration such as 500ms, 30s or 1h30m"],
    });
  });
});

function reading(text: string) {
  return readWorkflowFile({ path: "workflows/cleanup/workflow.yaml", text, folder: "cleanup" }, builtInKinds);
}

function whole(spec: string): string {
  const indented = spec.replace(/^(?=.)/gm, "  ");
  return `apiVersion: kubernaut.ai/v1alpha1\nkind: RemediationWorkflow\nspec:\n${indented}`;
}
