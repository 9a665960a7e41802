import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const { version } = JSON.parse(text("package.json")) as { version: string };

describe("the deployed images", () => {
  it("is our image with the version of the package", () => {
    const images = deployFiles().flatMap((path) =>
      [...text(path).matchAll(/^\s*(?:image|jobOwnImage): (\S+)$/gm)].map(([, image]) => image),
    );

    expect(images.length).toBeGreaterThan(0);
    expect([...new Set(images)]).toEqual([`interlock:${version}`]);
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
      expect(image).toMatch(/:[\w.-]+$|@sha256:[0-9a-f]{64}$/);
    }
  });
});

function deployFiles(): string[] {
  return readdirSync(new URL("deploy/", root), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".yaml"))
    .map((path) => `deploy/${path}`);
}

function text(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}
