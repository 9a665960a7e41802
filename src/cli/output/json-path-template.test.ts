import { describe, expect, it } from "vitest";
import { parseTemplate } from "./json-path-template.ts";

const list = {
  kind: "List",
  items: [
    { metadata: { name: "a", labels: { "app.io/x": "1" } }, status: { phase: "Blocked", until: null } },
    { metadata: { name: "b" }, status: { phase: "Failed", conditions: [{ type: "Stalled", reason: "Forbidden" }] } },
  ],
};

describe("a jsonpath template", () => {
  it.each([
    ["{.kind}", "List"],
    [".kind", "List"],
    ["{.items[*].metadata.name}", "a b"],
    ["{.items[0].metadata.name} and {.items[-1].metadata.name}!", "a and b!"],
    ['{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}', "a\tBlocked\nb\tFailed\n"],
    ["{range .items[*]}{@.metadata.name}{','}{end}", "a,b,"],
    ['{.items[?(@.status.phase=="Failed")].metadata.name}', "b"],
    ['{.items[*].status.conditions[?(@.type=="Stalled")].reason}', "Forbidden"],
    ["{.items[0].metadata.labels.app\\.io/x}", "1"],
    ["{.items[0].metadata.labels['app.io/x']}", "1"],
    ["{.items[0].metadata}", '{"name":"a","labels":{"app.io/x":"1"}}'],
    ["{.items[0].status.until}", "null"],
    ["{.nothing.here}", ""],
    ["{$.kind}", "List"],
    ["", ""],
  ])("%s prints %j, as with kubectl", (template, expected) => {
    expect(parseTemplate(template)(list)).toBe(expected);
  });

  it.each([
    "{.items[*}",
    "{.items[0:1]}",
    "{..name}",
    "{items}",
    "{.kind",
    "kind}",
    "{range .items[*]}{.kind}",
    "{end}",
    '{"\\q"}',
    "{}",
    "{.items[?(@.a>1)]}",
  ])("%s is refused", (template) => {
    expect(() => parseTemplate(template)).toThrow(SyntaxError);
  });
});
