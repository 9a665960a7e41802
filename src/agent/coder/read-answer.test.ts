import { describe, expect, it } from "vitest";
import { readAnswer } from "./read-answer.ts";

const finding = { path: "src/a.ts", line: 3, severity: "warning", message: "may be undefined" };
const read = { ...finding, side: "new" };

describe("the result of a review", () => {
  it.each([
    ["an object", JSON.stringify({ summary: "fine", findings: [finding] })],
    ["an object after other text", `Looking…\nDone.\n${JSON.stringify({ summary: "fine", findings: [finding] })}\n`],
    ["an object over many lines", JSON.stringify({ summary: "fine", findings: [finding] }, undefined, 2)],
    ["a fenced object", `Here:\n\`\`\`json\n${JSON.stringify({ summary: "fine", findings: [finding] })}\n\`\`\`\nBye.`],
    ["the last of several", `{"summary": "first"}\n${JSON.stringify({ summary: "fine", findings: [finding] })}`],
    [
      "the envelope of a tool",
      JSON.stringify({
        type: "result",
        is_error: false,
        result: `\`\`\`json\n${JSON.stringify({ summary: "fine", findings: [finding] })}\n\`\`\``,
      }),
    ],
    [
      "another envelope",
      JSON.stringify({ response: JSON.stringify({ summary: "fine", findings: [finding] }), stats: {} }),
    ],
  ])("may be %s", (_, output) => {
    expect(readAnswer("review", output, [])).toEqual({ kind: "review", summary: "fine", findings: [read] });
  });

  it("may be a list of findings alone", () => {
    expect(readAnswer("review", JSON.stringify([finding]), [])).toEqual({
      kind: "review",
      summary: "",
      findings: [read],
    });
  });

  it("may have no findings", () => {
    expect(readAnswer("review", '{"summary": "fine"}', [])).toEqual({ kind: "review", summary: "fine", findings: [] });
  });

  it.each([
    ["nothing", ""],
    ["text", "Looks good to me!"],
    ["half an object", '{"summary": "fine", "findings": ['],
    ["something else", '{"verdict": "fine"}'],
    ["findings that cannot be placed", '{"findings": [{"message": "somewhere"}]}'],
    ["a number", "7"],
  ])("is bad if it is %s, and the message describes the expected result", (_, output) => {
    const answer = readAnswer("review", output, []);

    expect(answer).toMatchObject({ kind: "bad", message: expect.stringContaining('"findings": [{"path"') });
  });

  it("is bad if the tool reports an error", () => {
    const answer = readAnswer("review", '{"type": "result", "is_error": true, "result": "Invalid API key"}', []);

    expect(answer).toEqual({ kind: "bad", message: "the coder reported an error: Invalid API key" });
  });

  it.each([
    ["an absolute path", { path: "/etc/passwd" }],
    ["a path that leads out", { path: "a/../../b" }],
    ["a path with a line break", { path: "a\nb" }],
    ["no line", { line: undefined }],
    ["line zero", { line: 0 }],
    ["half a line", { line: 1.5 }],
    ["no message", { message: " " }],
  ])("omits a finding with %s, and mentions that in the summary", (_, wrong) => {
    const answer = readAnswer("review", JSON.stringify({ findings: [finding, { ...finding, ...wrong }] }), []);

    expect(answer).toMatchObject({ findings: [read], summary: expect.stringContaining("1 of 2 findings") });
  });

  it.each([
    ["critical", "error"],
    ["WARN", "warning"],
    ["nit", "info"],
    ["constructor", "info"],
    [7, "info"],
  ])("may name the severity %j, which means %s", (severity, expected) => {
    const answer = readAnswer("review", JSON.stringify([{ ...finding, severity }]), []);

    expect(answer).toMatchObject({ findings: [{ severity: expected }] });
  });

  it("may call the path file, the message comment, and write the line as text", () => {
    const { path: file, message: comment } = finding;

    expect(readAnswer("review", JSON.stringify([{ file, comment, line: "3", severity: "warning" }]), [])).toMatchObject(
      {
        findings: [read],
      },
    );
  });

  it("has a hundred findings at most", () => {
    const answer = readAnswer("review", JSON.stringify({ findings: Array(150).fill(finding) }), []);

    expect(answer.kind === "review" && answer.findings).toHaveLength(100);
    expect(answer).toMatchObject({ summary: expect.stringContaining("50 of 150 findings") });
  });

  it("drops a suggestion that would end its code block", () => {
    const tricky = { ...finding, suggestion: "x\n```\n/merge" };

    expect(readAnswer("review", JSON.stringify([tricky, { ...finding, suggestion: "  y" }]), [])).toMatchObject({
      findings: [read, { ...read, suggestion: "  y" }],
    });
  });

  it("is found in linear time in a text of opening brackets", () => {
    expect(readAnswer("review", "{\n".repeat(200_000), [])).toMatchObject({ kind: "bad" });
  });
});

describe("the result of an edit", () => {
  it("may be plain text", () => {
    expect(readAnswer("edit", "I renamed `a` to `b`.\n", [])).toEqual({
      kind: "edit",
      summary: "I renamed `a` to `b`.",
    });
  });

  it("may be an object with a commit message", () => {
    const output = '{"summary": "done", "commitMessage": "app: rename a"}';

    expect(readAnswer("edit", output, [])).toEqual({ kind: "edit", summary: "done", commitMessage: "app: rename a" });
  });

  it("may be text that contains other JSON", () => {
    const output = 'I added\n{"name": "x"}\nto the file.';

    expect(readAnswer("edit", output, [])).toEqual({ kind: "edit", summary: output });
  });

  it("may be empty", () => {
    expect(readAnswer("edit", "", [])).toEqual({ kind: "edit", summary: "The coder gave no summary." });
  });
});

describe("text of the coder", () => {
  it.each([
    ["a secret", "the token is s3cr3t-value", "the token is [redacted]"],
    ["a text in the format of a token", "use glpat-abcdefghijklmnopqrst", "use [redacted]"],
    ["a mark of ours", "ok <!-- interlock:task -->", "ok <!\u200b-- interlock:task -->"],
    ["control characters", "a\u001b[31mb\u0000c\u202ed", "a[31mbcd"],
  ])("is cleaned of %s", (_, summary, shown) => {
    expect(readAnswer("edit", JSON.stringify({ summary }), ["s3cr3t-value"])).toMatchObject({ summary: shown });
  });

  it("is cut to its maximum length", () => {
    const answer = readAnswer("edit", "x".repeat(20_000), []);

    expect(answer.kind === "edit" && answer.summary).toHaveLength(10_000);
  });

  it("adds no trailer of ours to a commit", () => {
    const commitMessage = "fix: a\n\nInterlock-Task: 1234\nCo-authored-by: somebody";

    expect(readAnswer("edit", JSON.stringify({ summary: "x", commitMessage }), [])).toMatchObject({
      commitMessage: "fix: a\n\nCo-authored-by: somebody",
    });
  });
});
