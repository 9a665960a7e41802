import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecretName, withoutCredentials } from "./without-credentials.ts";

describe("a text without credentials", () => {
  it.each([
    ["redis://:hunter2@redis:6379/0", "redis://[redacted]@redis:6379/0"],
    ["redis://user:hun/ter2@redis", "redis://[redacted]@redis"],
    ["redis://user:hun#t?er2@@redis", "redis://[redacted]@redis"],
    ["https://oauth2:hunter2@gitlab.com/a/b.git", "https://[redacted]@gitlab.com/a/b.git"],
    ["https://hunter2@x,redis://:hunter2@y", "https://[redacted]@x,redis://[redacted]@y"],
    ["redis://:hunter2@x https://hunter2@y", "redis://[redacted]@x https://[redacted]@y"],
    ["connect to postgres://u:hunter2@db failed", "connect to postgres://[redacted]@db failed"],
    ["https://x/api?private_token=hunter2&page=2", "https://x/api?private_token=[redacted]&page=2"],
    ["https://x/?page=2&X-Goog-Signature=hunter2", "https://x/?page=2&X-Goog-Signature=[redacted]"],
  ])("is, for %s, %s", (text, expected) => {
    expect(withoutCredentials(text)).toBe(expected);
  });

  it.each([
    "no address at all",
    "someone@example.com",
    "redis://redis:6379/0",
    "https://npm.example.com/pkg@1.2",
    "https://x/?page=2&tokens_left=4",
    "git:gitlab.com/group/repo@main",
  ])("is the same for %s", (text) => {
    expect(withoutCredentials(text)).toBe(text);
  });

  it("holds no password that was in front of a host", () => {
    const word = fc.string({ unit: fc.constantFrom(..."ab1:/?#@&=.-%"), maxLength: 12 });

    fc.assert(
      fc.property(word, word, (before, after) => {
        expect(withoutCredentials(`at redis://${before}hunter2${after}@redis:6379`)).not.toContain("hunter2");
      }),
    );
  });

  it.each(["a://", "a.", "a?token=", "https://", "a@"])(
    "is found in good time in a long text of %s",
    (part) => {
      const text = `x://${part.repeat(200_000)}`;

      expect(withoutCredentials(text).length).toBeGreaterThan(0);
    },
    2_000,
  );
});

describe("a secret name", () => {
  it.each([
    "password",
    "PASSWORD",
    "client_secret",
    "accessToken",
    "tokens",
    "Authorization",
    "PRIVATE-TOKEN",
    "set-cookie",
    "api.key",
  ])("may be %s", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(["key", "fence", "tokenCount", "secretName", "bypass", "author", "url"])("is not %s", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});
