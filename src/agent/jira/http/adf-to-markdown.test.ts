import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adfToMarkdown } from "./adf-to-markdown.ts";
import { markdownToAdf } from "./markdown-to-adf.ts";

const text = (words: string, ...marks: object[]) => ({ type: "text", text: words, ...(marks.length > 0 && { marks }) });
const node = (type: string, content: unknown[], attrs?: object) => ({ type, content, ...(attrs && { attrs }) });
const paragraph = (...content: unknown[]) => node("paragraph", content);
const item = (...content: unknown[]) => node("listItem", content);

describe("a description of Jira as Markdown", () => {
  it.each<[string, unknown[], string]>([
    ["paragraphs", [paragraph(text("one")), paragraph(text("two"))], "one\n\ntwo"],
    ["line breaks", [paragraph(text("one"), { type: "hardBreak" }, text("two"))], "one\ntwo"],
    ["headings", [node("heading", [text("Title")], { level: 3 })], "### Title"],
    ["headings of no level", [node("heading", [text("Title")], { level: 99 })], "# Title"],
    [
      "marks",
      [
        paragraph(
          text("a "),
          text("bold ", { type: "strong" }),
          text("em", { type: "em" }),
          text(" "),
          text("x`y", { type: "code" }),
          text("gone", { type: "strike" }),
        ),
      ],
      "a **bold** *em* `` x`y ``~~gone~~",
    ],
    ["links", [paragraph(text("docs", { type: "link", attrs: { href: "https://x/y" } }))], "[docs](https://x/y)"],
    ["bare links", [paragraph(text("https://x", { type: "link", attrs: { href: "https://x" } }))], "https://x"],
    [
      "nested lists",
      [
        node("bulletList", [
          item(
            paragraph(text("one")),
            node("orderedList", [item(paragraph(text("first"))), item(paragraph(text("second")))]),
          ),
          item(paragraph(text("two"))),
        ]),
      ],
      "- one\n\n  1. first\n  2. second\n- two",
    ],
    ["numbering", [node("orderedList", [item(paragraph(text("x")))], { order: 5 })], "5. x"],
    [
      "tasks",
      [
        node("taskList", [
          node("taskItem", [text("done")], { state: "DONE" }),
          node("taskItem", [text("open")], { state: "TODO" }),
        ]),
      ],
      "- [x] done\n- [ ] open",
    ],
    ["code", [node("codeBlock", [text("let a = `b`;\n\n  c")], { language: "ts" })], "```ts\nlet a = `b`;\n\n  c\n```"],
    ["code with fences", [node("codeBlock", [text("```\nx\n```")])], "````\n```\nx\n```\n````"],
    ["quotes", [node("blockquote", [paragraph(text("a")), paragraph(text("b"))])], "> a\n>\n> b"],
    ["panels", [node("panel", [paragraph(text("careful"))], { panelType: "warning" })], "> **Warning**\n>\n> careful"],
    ["expands", [node("expand", [paragraph(text("inside"))], { title: "More" })], "**More**\n\ninside"],
    ["rules", [paragraph(text("a")), { type: "rule" }], "a\n\n---"],
    [
      "tables",
      [
        node("table", [
          node("tableRow", [
            node("tableHeader", [paragraph(text("A"))]),
            node("tableHeader", [paragraph(text("B|C"))]),
          ]),
          node("tableRow", [node("tableCell", [paragraph(text("1")), paragraph(text("2"))])]),
        ]),
      ],
      "| A | B\\|C |\n| --- | --- |\n| 1<br>2 |  |",
    ],
    [
      "people, emoji, states, dates and cards",
      [
        paragraph(
          { type: "mention", attrs: { id: "1", text: "@Ann" } },
          text(" "),
          { type: "emoji", attrs: { shortName: ":smile:", text: "😄" } },
          { type: "status", attrs: { text: "OPEN" } },
          { type: "date", attrs: { timestamp: "1700000000000" } },
          { type: "inlineCard", attrs: { url: "https://x/1" } },
        ),
      ],
      "@Ann 😄[OPEN]2023-11-14https://x/1",
    ],
    [
      "files",
      [node("mediaSingle", [{ type: "media", attrs: { id: "42", alt: "plan.png" } }])],
      "[attachment: plan.png]",
    ],
    ["unknown nodes, by their text", [node("novelty", [node("deeper", [text("kept")])])], "kept"],
    ["text without escapes", [paragraph(text("a_b *c* <d> #1 [x]"))], "a_b *c* <d> #1 [x]"],
  ])("keeps %s", (_, content, markdown) => {
    expect(adfToMarkdown({ version: 1, type: "doc", content })).toBe(markdown);
  });

  it.each([
    [undefined],
    [null],
    [7],
    [[]],
    [{}],
    [{ content: "x" }],
    [{ content: [null, 7, { type: 7, content: [{}] }] }],
  ])("is empty for %j", (document) => {
    expect(adfToMarkdown(document)).toBe("");
  });

  it("is unchanged if it is plain text, as in old issues", () => {
    expect(adfToMarkdown("just words")).toBe("just words");
  });

  it("never fails, and has every word up to the maximum depth", () => {
    const types =
      "paragraph heading bulletList orderedList listItem table tableRow tableCell panel blockquote expand codeBlock new".split(
        " ",
      );
    const document = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.record({
          type: fc.constant("text"),
          text: fc.stringMatching(/^[a-z]{1,8}$/),
          marks: fc.array(fc.record({ type: fc.constantFrom("strong", "code", "link", "em") })),
        }),
        fc.record({
          type: fc.constantFrom(...types),
          content: fc.array(tie("node"), { maxLength: 4 }),
          attrs: fc.anything(),
        }),
      ),
    })).node;

    fc.assert(
      fc.property(document, (root) => {
        const words = wordsIn(root);
        const markdown = adfToMarkdown({ type: "doc", content: [root] });
        for (const word of words) expect(markdown).toContain(word);
      }),
    );
    fc.assert(fc.property(fc.anything(), (anything) => typeof adfToMarkdown(anything) === "string"));
  });

  it.each(["paragraph", "bulletList", "listItem", "panel", "table", "heading"])(
    "ends for a %s that contains itself",
    (type) => {
      let deep: unknown = text("bottom");
      for (let i = 0; i < 20_000; i++) deep = node(type, [deep]);

      expect(typeof adfToMarkdown({ type: "doc", content: [deep] })).toBe("string");
    },
  );
});

describe("a comment for Jira", () => {
  it.each<[string, string, unknown[]]>([
    [
      "paragraphs",
      "one\ntwo\n\nthree",
      [paragraph(text("one"), { type: "hardBreak" }, text("two")), paragraph(text("three"))],
    ],
    [
      "links, bold and code",
      "see [the MR](https://x/1) and https://x/2, **now** `a*b`",
      [
        paragraph(
          text("see "),
          text("the MR", { type: "link", attrs: { href: "https://x/1" } }),
          text(" and "),
          text("https://x/2", { type: "link", attrs: { href: "https://x/2" } }),
          text(", "),
          text("now", { type: "strong" }),
          text(" "),
          text("a*b", { type: "code" }),
        ),
      ],
    ],
    [
      "lists",
      "- one\n- two\n  goes on",
      [node("bulletList", [item(paragraph(text("one"))), item(paragraph(text("two goes on")))])],
    ],
    [
      "numbered lists",
      "1. one\n2. two",
      [node("orderedList", [item(paragraph(text("one"))), item(paragraph(text("two")))])],
    ],
    [
      "code",
      "```ts\nlet a;\n\n- b\n```\nafter",
      [{ ...node("codeBlock", [text("let a;\n\n- b")]), attrs: { language: "ts" } }, paragraph(text("after"))],
    ],
    ["headings", "## Done", [{ ...node("heading", [text("Done")]), attrs: { level: 2 } }]],
    ["nothing", "", [paragraph(text(" "))]],
  ])("has %s", (_, markdown, content) => {
    expect(markdownToAdf(markdown)).toEqual({ version: 1, type: "doc", content });
  });

  it("is cut to the maximum length, with a note", () => {
    const document = markdownToAdf(`\`\`\`\n${"x".repeat(40_000)}\n\`\`\``);

    expect(adfToMarkdown(document).length).toBeLessThanOrEqual(32_767);
    expect(adfToMarkdown(document)).toMatch(/too long for a comment\)$/);
  });

  it("has no empty texts, whatever its input, and keeps every word", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom("```", "- a", "1. b", "**c**", "# d", "")), { maxLength: 20 }),
        (lines) => {
          const json = JSON.stringify(markdownToAdf(lines.join("\n")));
          expect(json).not.toContain('"text":""');
        },
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z ]{1,20}$/)), (lines) => {
        const words = lines.join(" ").split(" ").filter(Boolean);
        for (const word of words) expect(adfToMarkdown(markdownToAdf(lines.join("\n")))).toContain(word);
      }),
    );
  });
});

function wordsIn(root: unknown): string[] {
  const { text: words, content = [] } = root as { text?: string; content?: unknown[] };
  return words === undefined ? content.flatMap(wordsIn) : [words];
}
