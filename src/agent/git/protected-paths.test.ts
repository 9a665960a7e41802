import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemGit } from "../../process/index.ts";
import { protectedPathMatcher } from "./protected-paths.ts";

const cases: readonly [pattern: string, path: string, yes: boolean][] = [
  [".gitlab-ci.yml", ".gitlab-ci.yml", true],
  [".gitlab-ci.yml", "sub/.gitlab-ci.yml", true],
  ["/.gitlab-ci.yml", "sub/.gitlab-ci.yml", false],
  [".gitlab-ci.yml", ".GITLAB-ci.YML", true],
  [".gitlab-ci.yml", "xgitlab-ci.yml", false],
  ["CODEOWNERS", "docs/CODEOWNERS", true],
  ["ci/", "ci/a/b", true],
  ["ci/", "ci", false],
  ["ci", "ci", true],
  ["ci", "cis", false],
  [".gitlab/agents", ".gitlab/agents/x/config.yaml", true],
  [".gitlab/agents", "sub/.gitlab/agents/x", false],
  ["*.pem", "keys/a.pem", true],
  ["*.pem", "a.pem/b", true],
  ["keys/*.pem", "keys/a/b.pem", false],
  ["keys/**/b.pem", "keys/b.pem", true],
  ["keys/**/b.pem", "keys/x/y/b.pem", true],
  ["**/keys", "a/b/keys/c", true],
  ["keys/**", "keys/a/b", true],
  ["keys/**", "keys", false],
  ["a?c", "abc", true],
  ["a?c", "a/c", false],
  ["[a-c].txt", "b.txt", true],
  ["[!a-c].txt", "b.txt", false],
  ["[!a-c].txt", "d.txt", true],
  ["a+b(c).txt", "a+b(c).txt", true],
  ["\\!important", "!important", true],
  ["\\#x", "#x", true],
  ["#comment", "#comment", false],
  ["", "a", false],
  ["name ", "name", true],
  ["a**/b", "ax/b", true],
  ["a**/b", "ab", true],
  ["ünï", "ÜNÏ", true],
];

let cwd: string;
const git = systemGit({ ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" });

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "interlock-ignore-"));
  await git(["init", "--quiet"], { cwd });
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

describe("a protected path", () => {
  it.each(cases)("by %j: %j is protected: %s", (pattern, path, yes) => {
    expect(protectedPathMatcher([pattern])(path)).toBe(yes);
  });

  it.each(cases.filter(([pattern]) => pattern !== "ünï"))(
    "by %j: %j is the same for git",
    async (pattern, path, yes) => {
      await writeFile(join(cwd, ".gitignore"), `${pattern}\n`);

      const ignoring = ["-c", "core.ignoreCase=true", "check-ignore", "--no-index", "--quiet", "--", path];
      const { code } = await git(ignoring, { cwd });

      expect(code).toBe(yes ? 0 : 1);
    },
  );

  it("may be written as an invalid pattern, which protects its literal path", () => {
    expect(protectedPathMatcher(["a["])("a[")).toBe(true);
  });

  it("can be excluded again, but not below a protected folder", () => {
    const isProtected = protectedPathMatcher(["*.yml", "!free.yml", "ci/", "!ci/free.txt"]);

    expect(isProtected("a.yml")).toBe(true);
    expect(isProtected("free.yml")).toBe(false);
    expect(isProtected("ci/free.txt")).toBe(true);
  });
});
