import { describe, expect, it } from "vitest";
import type { RemediationRequestSpec } from "../../resources/index.ts";
import { factsNotRead } from "./facts.ts";
import { fill, unknownNames } from "./fill.ts";

describe("the host filter", () => {
  it.each([
    ["10.0.0.7:9100", "10.0.0.7"],
    ["10.0.0.7", "10.0.0.7"],
    ["worker-1.example.com:9100", "worker-1.example.com"],
    ["worker-1", "worker-1"],
    ["[fd00::7]:9100", "fd00::7"],
    ["fd00::7", "fd00::7"],
    ["https://example.com:8443/health?x=1", "example.com"],
  ])("makes %s into %s", (instance, text) => {
    const incident = { signalLabels: { instance } } as unknown as RemediationRequestSpec;

    expect(fill("{{ labels.instance | host }}", incident, factsNotRead)).toEqual({ kind: "text", text });
    expect(fill("node/{{labels.instance|host}}", incident, factsNotRead)).toEqual({
      kind: "text",
      text: `node/${text}`,
    });
  });

  it("needs the label as any other placeholder does", () => {
    const incident = { signalLabels: {} } as unknown as RemediationRequestSpec;

    expect(fill("{{ labels.instance | host }}", incident, factsNotRead)).toMatchObject({ what: "labels.instance" });
  });
});

it("a filter that does not exist is a mistake in the rule", () => {
  expect(unknownNames("{{ labels.instance | upper }}")).toEqual(["labels.instance | upper"]);
  expect(unknownNames("{{ labels.instance | host }} {{ labels.a.b/c }}")).toEqual([]);
});
