import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecret, withoutSecrets } from "./without-secrets.ts";

const secret = "S3cr3t/of+the=model";

/** Joined here, so that no scanner takes this file for one that holds keys. */
const keys: readonly (readonly [string, string])[] = [
  ["GitLab token", `glpat${"-"}abcdefghij0123456789`],
  ["GitLab runner token", `glrt${"-"}abcdefghij0123456789`],
  ["GitHub token", `ghp${"_"}abcdefghijklmnopqrst0123456789`],
  ["GitHub token", `github_pat${"_"}abcdefghijklmnopqrst0123456789`],
  ["Anthropic key", `sk-ant${"-"}api03-abcdefghijklmnop`],
  ["API key", `sk${"-"}proj-abcdefghij0123456789`],
  ["Slack token", `xoxb${"-"}1234567890-abcdef`],
  ["AWS key", `AKIA${"IOSFODNN7"}EXAMPLE`],
  ["Google key", `AIza${"0123456789".repeat(3)}abcde`],
  ["JSON Web Token", `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJ${"zdWIiOiIxMjM0NTY3ODkwIn0"}.c2ln`],
  ["private key", `-----BEGIN RSA ${"PRIVATE KEY"}-----\nMIIEpAIBAAKCAQEA\n-----END RSA ${"PRIVATE KEY"}-----`],
  ["private key", `-----BEGIN OPENSSH ${"PRIVATE KEY"}-----\nb3BlbnNzaC1rZXk`],
];

describe("a text without secrets", () => {
  it.each(keys)("has no %s: %s", (what, key) => {
    const shown = withoutSecrets(`before <${key}> after`, []);

    expect(shown).toBe("before <[redacted]> after");
    expect(findSecret(`before ${key} after`, [])).toMatch(what.split(" ").at(-1) ?? "");
  });

  it.each(keys)("has no %s in base64: %s", (_what, key) => {
    const encoded = Buffer.from(`the key is ${key}`).toString("base64");

    expect(withoutSecrets(`(${encoded})`, [])).toBe("([redacted])");
    expect(findSecret(encoded, [])).toContain("in base64");
  });

  it.each([
    ["as it is", secret],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64 after another byte", Buffer.from(`x${secret}`).toString("base64")],
    ["in base64 for URLs, within more", Buffer.from(`xy${secret} and more`).toString("base64url")],
    ["in hexadecimal digits", Buffer.from(secret).toString("hex").toUpperCase()],
    ["in a URL", encodeURIComponent(secret)],
    ["in a URL, every letter encoded", [...secret].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("")],
    ["in escapes of a string", [...secret].map((one) => `\\x${one.charCodeAt(0).toString(16)}`).join("")],
    ["in escapes of JSON", [...secret].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join("")],
    ["in entities of HTML", [...secret].map((one) => `&#${one.charCodeAt(0)};`).join("")],
    ["in hexadecimal digits with blanks", (Buffer.from(secret).toString("hex").match(/../g) ?? []).join(" ")],
    [
      "in base64 over several lines",
      (
        Buffer.from(secret)
          .toString("base64")
          .match(/.{1,10}/g) ?? []
      ).join("\n"),
    ],
    ["reversed", [...secret].reverse().join("")],
    ["in two strings that are joined", `"${secret.slice(0, 9)}" +\n+  "${secret.slice(9)}"`],
    ["with dashes between its letters", [...secret].join("-")],
    ["as a list of letters", JSON.stringify([...secret])],
    ["with blanks between its letters", [...secret].join(" ")],
    ["over several lines", [...secret].join("\n")],
    ["with characters without width between its letters", [...secret].join("\u200b")],
  ])("has no secret of ours %s", (_how, written) => {
    const shown = withoutSecrets(`before ${written} after`, [secret]);

    expect(shown).not.toContain(written);
    expect(shown).toContain("[redacted");
    expect(findSecret(`before ${written} after`, [secret])).toBe("a secret of Interlock or of its coder");
  });

  it.each([
    "Fixed the task-scheduler-with-a-long-hyphenated-name in 3 files.",
    "see sk-some-words-that-are-no-key-at-all",
    "0123456789abcdef0123456789abcdef01234567",
    "uses Bearer authentication",
    "a sentence with a base64 run: SGVsbG8sIHdvcmxkISBIZWxsbywgd29ybGQh",
    "Secret of the mod-el, S3cr3t",
  ])("keeps text that is no secret: %s", (text) => {
    expect(withoutSecrets(text, [secret]).replace("Bearer [redacted]", "Bearer authentication")).toBe(text);
    expect(findSecret(text, [secret])).toBeUndefined();
  });

  it("never contains a known secret, in any context", () => {
    const word = fc.string({ minLength: 8, maxLength: 40, unit: fc.constantFrom(..."abcXYZ0189-_/+=.") });
    fc.assert(
      fc.property(word, fc.string(), fc.string(), (value, before, after) => {
        expect(withoutSecrets(`${before}${value}${after}`, [value])).not.toContain(value);
        expect(findSecret(`${before}${value}${after}`, [value])).toBeDefined();
      }),
    );
  });

  it.each(["sk-", "-----BEGIN PRIVATE KEY-----", "eyJ-", "glpat-", "Bearer ", "a b ", "AKIA"])(
    "is made in a time that grows with its length: %j",
    (part) => {
      withoutSecrets(part.repeat(Math.floor(300_000 / part.length)), [secret]);
    },
  );

  it("does not look for the beginning of a token at every letter of a long word", () => {
    // With a search at every letter this takes more than a minute.
    const word = "eyJ-".repeat(2_000_000);

    expect(withoutSecrets(word, [secret])).toBe(word);
  });
});
