import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { deployedImage } from "../../scripts/deployed-image.ts";
import { imageProblem } from "../../src/manifests/index.ts";

const root = new URL("../../", import.meta.url);
const { version } = JSON.parse(text("package.json")) as { version: string };

describe("the deployed images", () => {
  it("is our image with the version of the package, and with its digest once it is published", () => {
    const images = deployFiles().flatMap((path) =>
      [...text(path).matchAll(/^\s*(?:image|jobOwnImage): (\S+)$/gm)].map(([, image]) => image),
    );

    expect(images.length).toBeGreaterThan(0);
    expect([...new Set(images)]).toEqual([text("deploy/image.txt").trim()]);
    expect(deployedImage()).toMatch(new RegExp(`:${version}(@sha256:[0-9a-f]{64})?$`));
  });

  it("is built on an exact version of Node by its digest, and never on latest", () => {
    const lines = text("Dockerfile").split("\n");
    const bases = lines.filter((line) => line.startsWith("FROM "));
    const [, nodeVersion = ""] = /^ARG NODE_VERSION=(.*)$/m.exec(text("Dockerfile")) ?? [];
    const [, nodeDigest = ""] = /^ARG NODE_DIGEST=(.*)$/m.exec(text("Dockerfile")) ?? [];

    expect(nodeVersion).toMatch(/^\d+\.\d+\.\d+-\w+-slim$/);
    expect(nodeDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(bases.length).toBe(2);
    for (const base of bases) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Docker's.
      expect(base).toContain("FROM node:${NODE_VERSION}${NODE_DIGEST:+@${NODE_DIGEST}}");
    }
  });

  it.each(["Dockerfile", ...deployFiles()])("names no image without a version: %s", (path) => {
    expect(text(path)).not.toMatch(/:latest\b/);
    for (const [, image = ""] of text(path).matchAll(/^\s*(?:image|jobOwnImage): (\S+)$/gm)) {
      expect(imageProblem(image)).toBeUndefined();
    }
  });

  it("are ours or placeholders in examples, workflows and documents; any other has its digest", () => {
    const found = ["examples", "workflows", "docs", "charts"]
      .flatMap((folder) => filesIn(folder))
      .flatMap((path) =>
        [...text(path).matchAll(/\b(?:image|containerImage|jobOwnImage|jobImage): "?([\w.-]+[\w./:@-]*)/g)].map(
          ([, image = ""]) => `${path} ${image}`,
        ),
      );

    expect(found.length).toBeGreaterThan(10);
    expect(
      found.filter((line) => !/ (interlock:|registry\.(example|invalid)\/|\S+@sha256:[0-9a-f]{64}$)/.test(line)),
    ).toEqual([]);
  });
});

function deployFiles(): string[] {
  return filesIn("deploy").filter((path) => path.endsWith(".yaml"));
}

function filesIn(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(yaml|md|ts|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(fileURLToPath(root).length));
}

function text(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}
