import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { certificateDefinition } from "../../../test/doubles/certificate-definition.ts";
import { readDefinitions } from "./definition-files.ts";

const path = "crds.yaml";

describe("a file with custom resource definitions", () => {
  it.each([
    ["one document", stringify(certificateDefinition)],
    ["several documents", `kind: ConfigMap\n---\n${stringify(certificateDefinition)}---\n# nothing\n`],
    ["a list", stringify({ kind: "List", items: [{ kind: "Service" }, certificateDefinition] })],
    ["JSON", JSON.stringify(certificateDefinition)],
  ])("may be %s", (_what, text) => {
    expect(readDefinitions({ path, text })).toMatchObject({
      kind: "valid",
      definitions: [{ spec: { names: { kind: "Certificate" } } }],
    });
  });

  it("may have none", () => {
    expect(readDefinitions({ path, text: "kind: ConfigMap\n" })).toEqual({ kind: "valid", definitions: [] });
  });

  const { spec } = certificateDefinition;
  it.each([
    ["a: [", "crds.yaml: is not valid YAML"],
    [
      stringify({ ...certificateDefinition, apiVersion: "apiextensions.k8s.io/v1beta1" }),
      "crds.yaml: the CustomResourceDefinition certificates.cert-manager.io has the apiVersion apiextensions.k8s.io/v1beta1",
    ],
    [stringify({ ...certificateDefinition, spec: { ...spec, scope: "Anywhere" } }), "has no spec.scope"],
    [stringify({ ...certificateDefinition, spec: { ...spec, names: { kind: "A" } } }), "spec.names.plural"],
    [stringify({ ...certificateDefinition, spec: { ...spec, names: { ...spec.names, shortNames: [1] } } }), "not text"],
    [stringify({ ...certificateDefinition, spec: { ...spec, versions: undefined } }), "has no spec.versions"],
    [stringify({ ...certificateDefinition, spec: undefined }), "has no spec.group"],
  ])("with a mistake is refused: %#", (text, problem) => {
    const reading = readDefinitions({ path, text });

    expect(reading.kind === "invalid" && reading.problems.join()).toContain(problem);
  });
});
