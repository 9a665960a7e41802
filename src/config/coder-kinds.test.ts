import { describe, expect, it } from "vitest";
import { commandLine, harmlessVariables, size, userId } from "./coder-kinds.ts";
import { settings } from "./schema.ts";

describe("a command", () => {
  it.each([
    ["claude -p --output-format json", ["claude", "-p", "--output-format", "json"]],
    ['["claude", "-p", "a b"]', ["claude", "-p", "a b"]],
    ['agent \'one word\' "another \\"one\\"" a\\ b', ["agent", "one word", 'another "one"', "a b"]],
    ["agent --dir={workTree} ''", ["agent", "--dir={workTree}", ""]],
    ["agent pre'fix'\"ed\" $HOME | x > y", ["agent", "prefixed", "$HOME", "|", "x", ">", "y"]],
  ])("%s is split into words", (text, value) => {
    expect(commandLine().read(text)).toEqual({ kind: "value", value });
    expect(commandLine().read(commandLine().print(value))).toEqual({ kind: "value", value });
  });

  it.each(["agent 'open", 'agent "open', "[1]", '["a"', "[]", '[""]', "''", " "])("%s is none", (text) => {
    expect(commandLine().read(text)).toMatchObject({ kind: "wrong" });
  });
});

describe("a size", () => {
  it.each([
    ["1MB", 1_000_000],
    ["500KB", 500_000],
    ["2GB", 2_000_000_000],
    ["7B", 7],
  ])("%s is %d bytes", (text, value) => {
    expect(size().read(text)).toEqual({ kind: "value", value });
    expect(size().print(value)).toBe(text);
  });

  it.each(["1", "MB", "1.5MB", "0MB", "1 MB"])("%s is none", (text) => {
    expect(size().read(text)).toMatchObject({ kind: "wrong" });
  });

  it("over the limit is refused", () => {
    expect(size({ max: "5MB" }).read("6MB")).toMatchObject({ kind: "wrong", instead: "5MB or less" });
  });
});

describe("the user of the coder", () => {
  it.each([
    ["1000", { uid: 1000, gid: 1000 }],
    ["1000:100", { uid: 1000, gid: 100 }],
  ])("may be %s", (text, value) => {
    expect(userId().read(text)).toEqual({ kind: "value", value });
  });

  it.each(["0", "0:0", "1000:0", "root", "-1", ""])("may not be %s", (text) => {
    expect(userId().read(text)).toMatchObject({ kind: "wrong" });
  });
});

describe("variables that are passed to the coder", () => {
  it("may be those of a model", () => {
    const value = ["ANTHROPIC_API_KEY", "HTTPS_PROXY", "PATH"];

    expect(harmlessVariables().read("ANTHROPIC_API_KEY, HTTPS_PROXY, PATH")).toEqual({ kind: "value", value });
  });

  it.each([
    "GITLAB_TOKEN",
    "JIRA_API_TOKEN",
    "REDIS_URL",
    "POSTGRES_URL",
    "PGPASSWORD",
    "gitlab_token",
    "KUBECONFIG",
    "HOME",
  ])("may not be %s", (name) => {
    expect(harmlessVariables().read(`X, ${name}`)).toMatchObject({
      kind: "wrong",
      wrong: expect.stringContaining(name),
    });
  });

  it("may not set one of our secrets, or name its file", () => {
    const secrets = settings.filter(({ path, kind }) => kind.secret || /File$|kubeconfig/i.test(path));
    const accepted = secrets
      .flatMap(({ variables }) => variables)
      .filter((name) => harmlessVariables().read(name).kind === "value");

    expect(accepted).toEqual([]);
  });
});
