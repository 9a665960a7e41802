import type { BundledPackage } from "./third-party-notices.ts";

interface Product {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Empty, if the sources are in no repository. */
  readonly commit: string;
}

/**
 * The bill of materials of the bundle in CycloneDX 1.6: the packages whose code is in it, with licence and checksum. The
 * same sources give the same text. `integrity` returns the checksum of a package as package-lock.json has it.
 */
export function sbom(
  { name, version, license, commit }: Product,
  packages: readonly BundledPackage[],
  integrity: (one: BundledPackage) => string | undefined,
): string {
  const components = packages.map((one) => ({
    ...component("library", one),
    ...hashes(integrity(one)),
  }));
  const product = component("application", { name, version, license });
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { ...product, ...(commit && { properties: [{ name: "interlock:commit", value: commit }] }) },
    },
    components,
    dependencies: [{ ref: product["bom-ref"], dependsOn: components.map((one) => one["bom-ref"]) }],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function component(type: string, { name, version, license }: Omit<Product, "commit">) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return { type, "bom-ref": purl, name, version, licenses: [{ license: { id: license } }], purl };
}

/** `sha512-BASE64` as CycloneDX writes it. */
function hashes(integrity: string | undefined) {
  const [, base64] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  return base64 && { hashes: [{ alg: "SHA-512", content: Buffer.from(base64, "base64").toString("hex") }] };
}
