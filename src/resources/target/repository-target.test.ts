import { describe, expect, it } from "vitest";
import { parseTarget } from "./parse-target.ts";
import { toRepositoryTarget } from "./repository-target.ts";
import type { TargetReading } from "./target.ts";

describe("a branch of a repository", () => {
  it.each([
    "https://gitlab.example.com/group/project",
    "https://gitlab.example.com/group/project.git",
    "https://gitlab.example.com/group/project.git/",
    "https://GitLab.Example.com/Group/Project",
    "https://gitlab.example.com./group/project",
    "https://gitlab.example.com:8443/group/project",
    "https://oauth2:glpat-secret@gitlab.example.com/group/project.git",
    "http://gitlab.example.com/group//project",
    "https://gitlab.example.com/group%2Fproject",
    "ssh://git@gitlab.example.com:2222/group/project.git",
    "git+ssh://git@gitlab.example.com/group/project",
    "git@gitlab.example.com:group/project.git",
    "git@gitlab.example.com:/group/project",
    "gitlab.example.com:group/project",
    "gitlab.example.com/group/project",
    "oauth2:glpat-secret@gitlab.example.com/group/project",
  ])("is one target in any spelling of its URL: %s", (url) => {
    const canonical = "git:gitlab.example.com/group/project@feature/x";

    expect(textOf(toRepositoryTarget({ url, branch: "feature/x" }))).toBe(canonical);
    expect(textOf(parseTarget(`git:${url}@feature/x`))).toBe(canonical);
    expect(textOf(parseTarget(`git:${url}@refs/heads/feature/x`))).toBe(canonical);
  });

  it("has the number of the project instead of the path, if it is known", () => {
    const reading = toRepositoryTarget({ url: "git@gitlab.example.com:old/name", branch: "main", projectId: 42 });

    expect(reading).toEqual({
      kind: "target",
      target: {
        type: "repository",
        text: "git:gitlab.example.com/42@main",
        host: "gitlab.example.com",
        path: "42",
        branch: "main",
      },
    });
  });

  it("distinguishes the case of branches", () => {
    expect(textOf(parseTarget("git:h/p@Main"))).not.toBe(textOf(parseTarget("git:h/p@main")));
  });

  it("may have an @ in its branch", () => {
    expect(textOf(parseTarget("git:h/p@users/me@work"))).toBe("git:h/p@users/me@work");
  });

  it.each([
    ["git:", "is not a repository: write git:host/path@branch"],
    ["git:main", "is not a repository: write git:host/path@branch"],
    ["git:https://user:to/ken@h/p@main", "is not a repository: write git:host/path@branch"],
    ["git:h/p", "names no branch: write git:host/path@branch"],
    ["git:h/p@", "has no valid branch: write git:host/path@branch"],
    ["git:h/p@a..b", "has no valid branch: write git:host/path@branch"],
    ["git:h/p@a b", "has no valid branch: write git:host/path@branch"],
    ["git:h/p@x.lock", "has no valid branch: write git:host/path@branch"],
    ["git:h/p@-x", "has no valid branch: write git:host/path@branch"],
    ["git:h/.git@main", "has no valid path to a repository: write git:host/path@branch"],
    ["git:h/../p@main", "has no valid path to a repository: write git:host/path@branch"],
    ["git:h/p/-/merge_requests/7@main", "has no valid path to a repository: write git:host/path@branch"],
    [`git:h/p@${"b".repeat(2_000)}`, "is longer than 1024 characters"],
    [`git:h/${"p".repeat(9_000)}@main`, "is not a repository: write git:host/path@branch"],
  ])("cannot be %j", (text, problem) => {
    expect(parseTarget(text)).toEqual({ kind: "problem", problem });
  });

  it.each([0, -1, 1.5, Number.NaN])("has no project with the number %d", (projectId) => {
    expect(toRepositoryTarget({ url: "https://h/p", branch: "main", projectId }).kind).toBe("problem");
  });

  it("repeats no token in a problem", () => {
    const reading = parseTarget("git:https://oauth2:glpat-secret@h/p with space@main");

    expect(textOf(reading)).not.toContain("glpat-secret");
  });
});

function textOf(reading: TargetReading): string {
  return reading.kind === "target" ? reading.target.text : reading.problem;
}
