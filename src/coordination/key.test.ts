import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyHash, keyName, keyOf } from "./key.ts";

describe("a key", () => {
  it.each([
    [["payment/deployment/payment-api"], "payment/deployment/payment-api"],
    [["repo", "gitlab.example.com", 42], "repo:gitlab.example.com:42"],
    [["a:b", "c"], "a%3Ab:c"],
    [["50%", "a|b"], "50%25:a%7Cb"],
    [["line\nbreak"], "line%0Abreak"],
    [["Grüße", "😀"], "Grüße:😀"],
  ])("of %j reads %s", (parts, key) => {
    expect(keyOf(...parts)).toBe(key);
  });

  it("is the same for the same parts alone", () => {
    const part = fc.string({ minLength: 1, unit: fc.constantFrom("a", "A", "/", ":", "%", "|", "3", "\n", "é", "😀") });
    const parts = fc.array(part, { minLength: 1, maxLength: 4 });

    fc.assert(
      fc.property(parts, parts, (one, other) => {
        return (keyOf(...one) === keyOf(...other)) === (JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 5_000 },
    );
  });

  it("has nothing in it that would break a record it is written into", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (part) => !/[|\p{Cc}]/u.test(keyOf(part))),
      { numRuns: 1_000 },
    );
  });

  it.each([[[]], [[""]], [["a", ""]]])("cannot be made of %j", (parts) => {
    expect(() => keyOf(...parts)).toThrow(TypeError);
  });

  it("cannot be made of half a character", () => {
    expect(() => keyOf("a\uD83D")).toThrow("well-formed Unicode");
  });
});

describe("the stored name of a key", () => {
  it.each([
    ["payment/deployment/payment-api", "ps6c12997c8mbmu4ekfdb5mu5ae5maafsfsbacquve951ljcl8a0"],
    ["node/worker-node-1", "lh2rflkh3qbqb2fkcn3e0qbi00b4p1t27hfgbljl4shjf18ok3jg"],
  ])("in Kubernetes is the whole hash in 52 characters: %s", (target, name) => {
    expect(keyName(keyOf(target))).toBe(name);
    expect(name).toHaveLength(52);
  });

  it("elsewhere is the whole hash in 43", () => {
    const name = keyHash(keyOf("payment/deployment/payment-api"));

    expect(name).toBe("zwzAiSk7EWXbxHUe1ZbeKpxbKU_j-LUzXvuSUNZsqhQ");
    expect(name).toHaveLength(43);
  });

  it("is valid as a Kubernetes name for any key", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (part) => /^[0-9a-v]{52}$/.test(keyName(keyOf(part)))),
    );
  });

  it.each([
    ["Node/worker-1", "node/worker-1"],
    ["a/b-c", "a-b/c"],
  ])("differs for %s and %s", (one, other) => {
    expect(keyName(keyOf(one))).not.toBe(keyName(keyOf(other)));
  });
});
