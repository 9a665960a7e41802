import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { releaseChangelog } from "./changelog.ts";
import { imageFile } from "./deployed-image.ts";
import { publishImage } from "./publish-image.ts";

export interface Release {
  /** The root of the repository. */
  readonly directory: string;
  readonly version: string;
  /** As in the changelog: 2026-11-16. */
  readonly date: string;
  /** Runs before anything changes. */
  readonly checks: readonly string[];
  /** Files besides package.json, package-lock.json and CHANGELOG.md that name the version. */
  readonly versionFiles: readonly string[];
  /** Writes generated files again, with the new version. */
  readonly generate: readonly string[];
  /** Where the image is pushed, without a tag: `registry.example/interlock`. */
  readonly repository: string;
  /** Builds and pushes the image of a commit, and returns its digest. */
  readonly publishImage: (image: string, commit: string, directory: string) => string;
}

/**
 * Checks, sets the version, writes the changelog's section, commits, publishes the image and writes its digest into `deploy/` and
 * the chart, tags, packs into `release/`, and writes checksums. Nothing is changed before all checks have passed, and everything
 * is as before if the image cannot be published. Neither the commits nor the package are pushed. Returns the path of the tarball.
 */
export function release(options: Release): string {
  const { directory, version, date, checks, versionFiles, generate, repository } = options;
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  const path = (file: string) => join(directory, file);
  const edit = (file: string, change: (text: string) => string) =>
    writeFileSync(path(file), change(readFileSync(path(file), "utf8")));

  const { version: before } = JSON.parse(readFileSync(path("package.json"), "utf8")) as { version: string };
  if (!isLater(version, before))
    throw new Error(`${version} is not a version above ${before}; write one such as ${next(before)}`);
  const tag = `v${version}`;
  if (run("git", "status", "--porcelain") !== "") throw new Error("there are uncommitted changes; commit them first");
  if (run("git", "tag", "--list", tag) !== "") throw new Error(`the tag ${tag} exists already; choose another version`);
  releaseChangelog(readFileSync(path("CHANGELOG.md"), "utf8"), { version, date });
  if (!/^[a-z0-9][a-z0-9._:/-]*$/.test(repository) || /:[^/]*$/.test(repository)) {
    throw new Error(`"${repository}" is not the repository of an image; write one such as registry.example/interlock`);
  }
  for (const check of checks) run("npm", "run", check);

  const start = run("git", "rev-parse", "HEAD");
  run("npm", "version", "--no-git-tag-version", "--ignore-scripts", version);
  edit("CHANGELOG.md", (text) => releaseChangelog(text, { version, date }));
  for (const file of versionFiles) edit(file, (text) => text.replaceAll(before, version));
  writeFileSync(path(imageFile), `${repository}:${version}\n`);
  const commit = (message: string) => {
    for (const script of generate) run("npm", "run", script);
    run("git", "add", "--all");
    run("git", "commit", "--quiet", "--message", message);
  };
  commit(`release: ${version}`);
  try {
    const image = pinnedImage(`${repository}:${version}`, run("git", "rev-parse", "HEAD"), options);
    writeFileSync(path(imageFile), `${image}\n`);
  } catch (error) {
    run("git", "reset", "--hard", "--quiet", start);
    throw error;
  }
  commit(`deploy: name the image of ${version} by its digest`);
  run("git", "tag", "--annotate", tag, "--message", `Interlock ${version}`);

  const folder = path("release");
  mkdirSync(folder, { recursive: true });
  const packed = run("npm", "pack", "--json", "--silent", "--pack-destination", folder);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf("[\n")));
  const tarball = join(folder, filename);
  const digest = createHash("sha256").update(readFileSync(tarball)).digest("hex");
  writeFileSync(join(folder, "SHA256SUMS"), `${digest}  ${filename}\n`);
  return tarball;
}

/** The published image with its digest. */
function pinnedImage(image: string, commit: string, { publishImage, directory }: Release): string {
  const digest = publishImage(image, commit, directory);
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`the digest of ${image} is missing: "${digest}"`);
  return `${image}@${digest}`;
}

/** Whether `version` is MAJOR.MINOR.PATCH and above `before`. */
function isLater(version: string, before: string): boolean {
  const parse = (text: string) => /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number);
  const [ours, theirs] = [parse(version), parse(before)];
  if (!ours || !theirs) return false;
  const at = ours.findIndex((part, i) => part !== theirs[i]);
  return at >= 0 && (ours[at] ?? 0) > (theirs[at] ?? 0);
}

function next(version: string): string {
  const [major, minor] = version.split(".").map(Number);
  return `${major}.${(minor ?? 0) + 1}.0`;
}

if (import.meta.filename === process.argv[1]) {
  try {
    const tarball = release({
      directory: process.cwd(),
      version: process.argv[2] ?? "",
      date: new Date().toISOString().slice(0, 10),
      checks: ["check", "test"],
      versionFiles: ["src/manifests/manifests.ts", "src/config/sections/agent.ts", "Dockerfile"],
      generate: ["docs"],
      repository: process.argv[3] ?? "",
      publishImage,
    });
    console.log(
      `${tarball} is packed, the image is pushed and the commit is tagged; next: git push --follow-tags, then npm publish ${tarball}; keep it for the tests of upgrades: npx tsx scripts/keep-release.ts ${tarball}`,
    );
  } catch (error) {
    console.error(`error: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
