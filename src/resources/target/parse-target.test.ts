import { describe, expect, it } from "vitest";
import { kindsWith } from "./kinds.ts";
import { parseRecordedTarget, parseTarget } from "./parse-target.ts";

const kinds = kindsWith([
  { kind: "Certificate", plural: "certificates", group: "cert-manager.io", namespaced: true },
  { kind: "ClusterIssuer", plural: "clusterissuers", group: "cert-manager.io", namespaced: false },
]);

describe("a recorded target", () => {
  it.each([
    "web/deployment/shop",
    "node/worker-1",
    "north:web/deployment/shop",
    "web/certificate.cert-manager.io/shop",
    "north:web/certificate.cert-manager.io/shop",
    "clusterissuer.cert-manager.io/main",
    "git:gitlab.example.com/42@main",
  ])("%s is read as it was recorded, whether or not its kind is still known", (text) => {
    expect(parseTarget(text, kinds)).toMatchObject({ kind: "target", target: { text } });

    expect(parseRecordedTarget(text)).toEqual(parseTarget(text, kinds));
  });

  it.each(["web/unknown/shop", "web/Certificate.cert-manager.io/shop", "web/certificate.cert-manager.io/", "shop"])(
    "%s was never recorded",
    (text) => {
      expect(parseRecordedTarget(text).kind).toBe("problem");
    },
  );
});
