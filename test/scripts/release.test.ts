import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { releaseChangelog } from "../../scripts/changelog.ts";
import { publishImage } from "../../scripts/publish-image.ts";
import { type Release, release } from "../../scripts/release.ts";

const date = "2026-11-16";
const repository = "registry.example:5000/scratch";
const imageDigest = `sha256:${"0123456789abcdef".repeat(4)}`;

describe("a release", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "interlock-release-"));
    const scripts = { check: "test ! -e broken", generate: "echo made >> generated" };
    write("package.json", JSON.stringify({ name: "@scope/scratch", version: "0.1.0", scripts, files: ["image"] }));
    write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n* New.\n\n## 0.1.0 (2026-01-01)\n\n* First.\n");
    write("image", "scratch:0.1.0\n");
    mkdirSync(join(directory, "deploy"));
    write("deploy/image.txt", "scratch:0.1.0\n");
    write(".gitignore", "release/\n");
    git("init", "--quiet");
    git("config", "user.name", "Test");
    git("config", "user.email", "test@example.com");
    commit();
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it("sets the version, dates the changelog, commits, tags, packs and writes checksums", () => {
    const tarball = releaseIt("0.2.0");

    expect(JSON.parse(read("package.json")).version).toBe("0.2.0");
    expect(read("CHANGELOG.md")).toBe(
      `# Changelog\n\n## Unreleased\n\n## 0.2.0 (${date})\n\n* New.\n\n## 0.1.0 (2026-01-01)\n\n* First.\n`,
    );
    expect(read("image")).toBe("scratch:0.2.0\n");
    expect(git("log", "--format=%s", "-2", "v0.2.0")).toBe(
      "deploy: name the image of 0.2.0 by its digest\nrelease: 0.2.0",
    );
    expect(read("deploy/image.txt")).toBe(`${repository}:0.2.0@${imageDigest}\n`);
    expect(git("status", "--porcelain")).toBe("");
    const digest = createHash("sha256").update(readFileSync(tarball)).digest("hex");
    expect(read("release/SHA256SUMS")).toBe(`${digest}  scope-scratch-0.2.0.tgz\n`);
  });

  it.each([
    [
      "a version that is not above the current one",
      "0.1.0",
      () => {},
      "0.1.0 is not a version above 0.1.0; write one such as 0.2.0",
    ],
    ["a version of another form", "v2", () => {}, "v2 is not a version above 0.1.0"],
    ["uncommitted changes", "0.2.0", () => write("new", ""), "there are uncommitted changes; commit them first"],
    ["a tag that exists", "0.2.0", () => git("tag", "v0.2.0"), "the tag v0.2.0 exists already"],
    [
      "nothing in the changelog",
      "0.2.0",
      () => {
        write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 0.1.0\n");
        commit();
      },
      'the section "## Unreleased" of CHANGELOG.md is empty',
    ],
    [
      "a check that fails",
      "0.2.0",
      () => {
        write("broken", "");
        commit();
      },
      "npm run check",
    ],
  ])("is refused for %s, and changes nothing", (_name, version, prepare, problem) => {
    prepare();
    const before = [git("rev-parse", "HEAD"), git("tag"), git("status", "--porcelain")];

    expect(() => releaseIt(version)).toThrow(problem);

    expect([git("rev-parse", "HEAD"), git("tag"), git("status", "--porcelain")]).toEqual(before);
  });

  it("publishes the image of the commit that sets the version", () => {
    const published: string[] = [];

    releaseIt("0.2.0", {
      publishImage(image, commit) {
        published.push(image, commit);
        return imageDigest;
      },
    });

    expect(published).toEqual([`${repository}:0.2.0`, git("rev-parse", "v0.2.0~1")]);
  });

  it.each<[string, Partial<Release>, string]>([
    [
      "an image without a digest",
      { publishImage: () => "" },
      "the digest of registry.example:5000/scratch:0.2.0 is missing",
    ],
    ["an image that cannot be pushed", { publishImage: () => fail("no access") }, "no access"],
    ["no repository of the image", { repository: "" }, '"" is not the repository of an image'],
    ["a repository with a tag", { repository: "scratch:latest" }, '"scratch:latest" is not the repository of an image'],
  ])("is refused for %s, and everything is as before", (_name, options, problem) => {
    const before = [git("rev-parse", "HEAD"), git("tag"), read("package.json")];

    expect(() => releaseIt("0.2.0", options)).toThrow(problem);

    expect([git("rev-parse", "HEAD"), git("tag"), read("package.json")]).toEqual(before);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("builds the image with its commit, and reads the digest of all platforms", () => {
    const docker = `#!/bin/sh
echo "$@" > ${directory}/arguments
while [ "$1" != --metadata-file ]; do shift; done
echo '{"containerimage.digest": "${imageDigest}"}' > "$2"
`;
    mkdirSync(join(directory, "bin"));
    write("bin/docker", docker);
    chmodSync(join(directory, "bin/docker"), 0o755);
    vi.stubEnv("PATH", `${directory}/bin:${process.env["PATH"]}`);

    expect(publishImage("scratch:0.2.0", "0123456789abcdef0123", directory)).toBe(imageDigest);

    expect(read("arguments")).toMatch(/^buildx build --push .*--build-arg COMMIT=0123456789ab --tag scratch:0.2.0 /);
    vi.unstubAllEnvs();
  });

  function releaseIt(version: string, options: Partial<Release> = {}): string {
    return release({
      ...{ directory, version, date, checks: ["check"], versionFiles: ["image"], generate: ["generate"], repository },
      publishImage: () => imageDigest,
      ...options,
    });
  }

  function fail(message: string): never {
    throw new Error(message);
  }

  function write(file: string, text: string): void {
    writeFileSync(join(directory, file), text);
  }

  function read(file: string): string {
    return readFileSync(join(directory, file), "utf8");
  }

  function git(...args: string[]): string {
    return execFileSync("git", args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }

  function commit(): void {
    git("add", "--all");
    git("commit", "--quiet", "--message", "change");
  }
});

describe("the changelog of a release", () => {
  it("needs a section for what is unreleased", () => {
    expect(() => releaseChangelog("# Changelog\n", { version: "1.0.0", date })).toThrow(
      'has no section "## Unreleased"',
    );
  });

  it("has a dated section for the version of the package, below what is unreleased", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    const headings = readFileSync("CHANGELOG.md", "utf8").match(/^## .*$/gm) ?? [];

    expect(headings[0]).toBe("## Unreleased");
    expect(headings[1]).toMatch(/^## \d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/);
    expect(headings[1]).toContain(`## ${version} (`);
  });

  it("may be the first", () => {
    const text = releaseChangelog("# Changelog\n\n## Unreleased\n\n* New.\n", { version: "1.0.0", date });

    expect(text).toBe(`# Changelog\n\n## Unreleased\n\n## 1.0.0 (${date})\n\n* New.\n`);
  });
});
