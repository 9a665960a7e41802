import { describe, expect, it } from "vitest";
import { kindsWith } from "./kinds.ts";
import { parseObjectTarget } from "./object-target.ts";
import { toResourceType } from "./resource-type.ts";

const certificate = { kind: "Certificate", plural: "certificates", group: "cert-manager.io", namespaced: true };

describe("the resource type of a target", () => {
  it.each([
    ["web/deployment/shop", undefined, "v1", "apps/v1"],
    ["web/certificate.cert-manager.io/shop", "cert-manager.io/v1alpha2", "v1", "cert-manager.io/v1alpha2"],
    ["web/certificate.cert-manager.io/shop", undefined, "v1", "cert-manager.io/v1"],
    ["web/certificate.cert-manager.io/shop", undefined, undefined, undefined],
  ])("%s, reported as %s, with the version %s of its definition, is by %s", (text, apiVersion, version, expected) => {
    const kinds = kindsWith([{ ...certificate, ...(version && { version }) }]);
    const reading = parseObjectTarget(text, kinds);
    if (reading.kind !== "target") throw new Error(reading.problem);

    expect(toResourceType(reading.target, apiVersion, kinds)?.apiVersion).toBe(expected);
  });
});
