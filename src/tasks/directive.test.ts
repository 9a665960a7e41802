import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDirective } from "./directive.ts";

describe("a comment", () => {
  it.each([
    ["/copilot fix the tests", "do", "fix the tests"],
    ["/CoPilot fix", "do", "fix"],
    ["  \n\t/copilot fix", "do", "fix"],
    ["/copilot\nfix\nboth", "do", "fix\nboth"],
    ["/copilot: fix", "do", "fix"],
    ["> @bot what about\n> this?\n\n/copilot fix that", "do", "fix that"],
    [">>>\nsaid before\n\n/copilot no\n>>>\n/copilot yes", "do", "yes"],
    ["/copilot replace `@bot` by\n```\n@bot\n```", "do", "replace `@bot` by\n```\n@bot\n```"],
    ["/copilot review", "review", "review"],
    ["/copilot Review.", "review", "Review."],
    ["/copilot review the error handling", "do", "review the error handling"],
    ["/copilot cancel!", "cancel", "cancel!"],
    ["/copilot retry", "retry", "retry"],
    ["/copilot status?", "status", "status?"],
    ["/copilot", "help", ""],
    ["/copilot   \n", "help", ""],
    ["/copilot help", "help", "help"],
    ["/copilot helpful names please", "do", "helpful names please"],
    ["@bot fix it", "do", "fix it"],
    ["Could you, @BOT, fix it?", "do", "fix it?"],
    ["Thanks. @bot: fix it", "do", "fix it"],
    ["(@bot) fix it", "do", "fix it"],
    ["**@bot** fix it", "do", "fix it"],
    ["@bot\n- one\n- two", "do", "- one\n- two"],
    ["@bot – fix it", "do", "fix it"],
    ["@bot. Fix it", "do", "Fix it"],
    ["@bot", "help", ""],
    ["@bot!", "help", ""],
    ["@bot status", "status", "status"],
    ["`@bot` is a name; @bot fix it", "do", "fix it"],
    ["```\n@bot no\n```\n@bot yes", "do", "yes"],
    ["> @bot no\n@bot yes", "do", "yes"],
    ["a@bot.example @bot yes", "do", "yes"],
    ["1. first\n\n    @bot yes", "do", "yes"],
    ["> <!-- interlock answer=1 -->\n\n@bot fix it", "do", "fix it"],
    ["``a ` b`` @bot yes", "do", "yes"],
    ["a ` alone\n\n@bot yes", "do", "yes"],
  ])("%j asks for %s", (body, verb, instruction) => {
    expect(parseDirective(body, "bot")).toEqual({ verb, instruction });
  });

  it.each([
    "looks good",
    "",
    "please /copilot fix",
    "thanks!\n/copilot fix",
    "/copilots fix",
    "/copilot-next fix",
    "/copilot/x",
    "> /copilot fix",
    "`/copilot fix`",
    "```\n/copilot fix\n```",
    "`@bot fix`",
    "``@bot ` fix``",
    "```\n@bot fix\n```",
    "```ts\n@bot fix",
    "~~~\n@bot fix\n~~~",
    "> ```\n> @bot fix\n> ```",
    "> @bot fix",
    "  > @bot fix",
    ">>>\n@bot fix\n>>>",
    "<!-- @bot fix -->",
    "mail@bot",
    "me@bot.example",
    "@bots fix",
    "@bot-two fix",
    "@bot.two fix",
    "@bot_two fix",
    "@bot/team fix",
    "@@bot fix",
    "https://gitlab.example.com/@bot",
    "the robot @botany",
    "/copilot fix\n\n<!-- interlock answer=1 -->",
    "@bot fix <!--interlock x-->",
    "```\nunclosed\n@bot fix\n<!-- interlock answer=1 -->",
  ])("%j asks for nothing", (body) => {
    expect(parseDirective(body, "bot")).toBeUndefined();
  });

  it("mentions no agent without a user name", () => {
    expect(parseDirective("@bot fix")).toBeUndefined();
    expect(parseDirective("@ fix", "")).toBeUndefined();
    expect(parseDirective("/copilot fix")).toEqual({ verb: "do", instruction: "fix" });
  });

  it.each(["a.b", "a+b", "b-ot", "x_(y"])("may ask for %s, whatever its other meanings", (name) => {
    expect(parseDirective(`@${name} fix`, name)).toEqual({ verb: "do", instruction: "fix" });
    expect(parseDirective(`@${name.replace(/\W/, "z")} fix`, name)).toBeUndefined();
  });

  it("may have any text, and is read in linear time", () => {
    const piece = fc.constantFrom("`", "```", "~~~", ">", ">>>", "\n", " ", "@bot", "/copilot", "<!--", "-->", "a");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const directive = parseDirective(pieces.join(""), "bot");
        if (directive) expect(pieces.join("")).toContain(directive.instruction);
      }),
    );
    for (const hard of ["`", ">", "<!--", "\n>>>\n", "```\n", "@", " ", "` ", "\n `", "~~~a\n"]) {
      parseDirective(hard.repeat(Math.floor(65_536 / hard.length)), "bot");
    }
  });
});

it("is found in a short time in a comment of any length", () => {
  // Each run of backticks is the beginning of code that ends nowhere.
  const runs = Array.from({ length: 1_300 }, (_, i) => `x${"`".repeat(i + 1)}`).join("");
  const before = process.cpuUsage();

  expect(parseDirective(`@bot fix it ${runs}`, "bot")).toMatchObject({ verb: "do" });

  expect(process.cpuUsage(before).user).toBeLessThan(400_000);
});

it("is not taken from a comment of ours, however long that is", () => {
  expect(parseDirective(`/copilot review ${"x".repeat(100_000)} <!-- interlock -->`)).toBeUndefined();
});
