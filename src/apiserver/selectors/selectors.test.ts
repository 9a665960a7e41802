import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StatusError } from "../api/status-error.ts";
import { defineResource } from "../kinds/define-resource.ts";
import { fieldSelector } from "./field-selector.ts";
import { labelSelector } from "./label-selector.ts";

const labels = { app: "web", tier: "front", "example.com/size": "7", empty: "" };

describe("a label selector", () => {
  it.each([
    ["", true],
    ["  ", true],
    ["app", true],
    ["!app", false],
    ["!other", true],
    ["! other", true],
    ["app=web", true],
    ["app==web", true],
    ["app = web", true],
    ["app=db", false],
    ["app=", false],
    ["empty=", true],
    ["app!=db", true],
    ["app!=web", false],
    ["other!=web", true],
    ["app in (db,web)", true],
    ["app in (db)", false],
    ["other in (web)", false],
    ["empty in (,a)", true],
    ["app notin (db)", true],
    ["app notin (web,db)", false],
    ["other notin (web)", true],
    ["example.com/size>6", true],
    ["example.com/size > 7", false],
    ["example.com/size<8", true],
    ["app>1", false],
    ["other<1", false],
    ["app=web,tier=front", true],
    ["app=web,tier=back", false],
    ["app in (web),tier,!other", true],
    ["in=web", false],
    ["notin notin (a)", true],
  ])("%j matches an object with labels: %s", (text, meets) => {
    expect(labelSelector(text)?.(labels) ?? true).toBe(meets);
  });

  it.each([
    [",", "found ',', expected: !, identifier, or 'end of string'"],
    ["app=web,", "found '', expected: identifier after ','"],
    ["app=web,,tier", "found ',', expected: identifier after ','"],
    ["app web", "found 'web', expected: in, notin, =, ==, !=, gt, lt"],
    ["app=web tier=front", "found 'tier', expected: ',' or 'end of string'"],
    ["app===web", "found '=', expected: identifier"],
    ["app in web", "found 'web' expected: '('"],
    ["app in (web", "expected: ',' or ')'"],
    ["app in (web db)", "found 'db', expected: ',' or ')'"],
    ["app in (", "expected: ',', ')' or identifier"],
    ["!", "expected: identifier"],
    ["!!app", "found '!', expected: identifier"],
    ["a/b/c", "key: Invalid value"],
    ["-app", "key: Invalid value"],
    [`${"k".repeat(64)}=x`, "no more than 63 characters"],
    ["app=a b", "found 'b', expected: ',' or 'end of string'"],
    ["app=@", "values[0][app]: Invalid value"],
    [`app=${"v".repeat(64)}`, "no more than 63 characters"],
    ["app in (web, -bad)", "values[1][app]: Invalid value"],
    ["app>x", "the value must be an integer"],
    ["app<", "the value must be an integer"],
    ["<script>", "expected: !, identifier"],
  ])("rejects %j with the reason", (text, message) => {
    expect(() => labelSelector(text)).toThrow(message);
    expect(refusal(() => labelSelector(text))).toBe(400);
  });

  it("does not find labels that only the prototype has", () => {
    expect(labelSelector("constructor")?.({})).toBe(false);
    expect(labelSelector("toString=x")?.({})).toBe(false);
  });

  it.each([
    ["many commas", ",".repeat(100_000)],
    ["many brackets", `app in ${"(".repeat(100_000)}`],
    ["many negations", "!".repeat(100_000)],
    ["a long key", "k".repeat(1_000_000)],
    ["a long value that almost fits", `app=${"a-".repeat(200_000)}!`],
    ["a key of dots", `${"a.".repeat(200_000)}/x`],
  ])("of %s is rejected in linear time", (_what, text) => {
    expect(refusal(() => labelSelector(text))).toBe(400);
  });

  it("of many terms is accepted", () => {
    const selector = labelSelector(Array.from({ length: 20_000 }, (_, i) => `k${i}!=x`).join(","));

    expect(selector?.(labels)).toBe(true);
  });

  it("parses or rejects any text", () => {
    const piece = fc.constantFrom(
      "app",
      "in",
      "notin",
      "=",
      "==",
      "!=",
      "!",
      "(",
      ")",
      ",",
      "<",
      ">",
      " ",
      "\n",
      "\u0000",
      "é",
      "7",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect([undefined, 400]).toContain(refusal(() => labelSelector(pieces.join(""))?.(labels)));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a field selector", () => {
  const pods = defineResource({
    kind: "Pod",
    plural: "pods",
    selectable: new Map([
      ["metadata.name", ["metadata", "name"]],
      ["metadata.namespace", ["metadata", "namespace"]],
      ["status.phase", ["status", "phase"]],
      ["spec.count", ["spec", "count"]],
    ]),
  });
  const pod = { metadata: { name: "a", namespace: "ns" }, status: { phase: "Running" }, spec: { count: 3 } };

  it.each([
    ["metadata.name=a", true],
    ["metadata.name==a", true],
    ["metadata.name!=a", false],
    ["metadata.name=b", false],
    ["status.phase=Running,metadata.namespace=ns", true],
    ["status.phase=Running,metadata.namespace!=ns", false],
    ["status.phase!=Failed,,", true],
    ["spec.count=3", true],
    ["metadata.name=a\\,b", false],
    ["metadata.name!=a\\=b\\\\", true],
  ])("%j matches an object: %s", (text, meets) => {
    expect(fieldSelector(text, pods)?.matches(pod)).toBe(meets);
  });

  it("treats an absent field as empty", () => {
    expect(fieldSelector("status.phase=", pods)?.matches({ metadata: {} })).toBe(true);
    expect(fieldSelector("status.phase!=Running", pods)?.matches({ metadata: {} })).toBe(true);
  });

  it("returns the only name and namespace that can match", () => {
    expect(fieldSelector("metadata.name=a,metadata.namespace=ns", pods)).toMatchObject({ name: "a", namespace: "ns" });
    expect(fieldSelector("metadata.name!=a", pods)).toMatchObject({ name: undefined, namespace: undefined });
  });

  it.each([
    ["nonsense", "can't understand 'nonsense'"],
    ["spec.nodeName=x", '"spec.nodeName" is not a known field selector'],
    ["__proto__=x", "is not a known field selector"],
    ["constructor.name=Object", "is not a known field selector"],
    ["=x", "is not a known field selector"],
    ["metadata.name in (a)", "can't understand"],
  ])("rejects %j with the reason", (text, message) => {
    expect(() => fieldSelector(text, pods)).toThrow(message);
    expect(refusal(() => fieldSelector(text, pods))).toBe(400);
  });

  it.each([
    ["a long field", `${"a.".repeat(100_000)}=x`],
    ["many negations", "!".repeat(100_000)],
    ["many escapes", "\\,".repeat(100_000)],
  ])("of %s is rejected in linear time", (_what, text) => {
    expect(refusal(() => fieldSelector(text, pods))).toBe(400);
  });
});

/** The code of the refusal; undefined if there was none. Anything else that is thrown is a mistake. */
function refusal(attempt: () => unknown): number | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
}
