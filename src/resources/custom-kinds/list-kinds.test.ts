import { describe, expect, it } from "vitest";
import { certificateDefinition } from "../../../test/doubles/certificate-definition.ts";
import type { CustomKind } from "../target/kinds.ts";
import { parseTarget } from "../target/parse-target.ts";
import { readKinds } from "./list-kinds.ts";

const declared: CustomKind = {
  kind: "Certificate",
  singular: "other",
  plural: "certificates",
  group: "cert-manager.io",
  version: "v1alpha1",
  namespaced: false,
};

describe("a declared kind", () => {
  it("is known without a definition", () => {
    expect(readKinds([], [declared]).find("certificates.cert-manager.io")).toMatchObject({ namespaced: false });
  });

  it("is replaced by a definition of the same kind in all its names, so that one object is one target", () => {
    const kinds = readKinds([certificateDefinition], [declared]);

    expect(kinds.find("other.cert-manager.io")).toBeUndefined();
    for (const spelling of ["Certificate", "certificates", "cert"]) {
      expect(parseTarget(`web/${spelling}.cert-manager.io/shop`, kinds)).toMatchObject({
        target: { text: "web/certificate.cert-manager.io/shop" },
      });
    }
  });

  it("stays beside a definition of another kind in its group", () => {
    const issuer = { ...declared, kind: "Issuer", singular: "issuer", plural: "issuers" };

    const kinds = readKinds([certificateDefinition], [issuer]);

    expect(kinds.find("issuer.cert-manager.io")).toBeDefined();
    expect(kinds.find("certificate.cert-manager.io")).toBeDefined();
  });
});

describe("custom kinds with a name in common", () => {
  const first = { ...declared, kind: "Alpha", singular: "alpha", plural: "alphas", shortNames: ["beta"] };
  const second = { ...declared, kind: "Beta", singular: "beta", plural: "betas" };

  it.each([[[first, second]], [[second, first]]])("have the same meaning in any order: %#", (order) => {
    expect(readKinds([], order).find("beta.cert-manager.io")?.plural).toBe("betas");
  });
});
