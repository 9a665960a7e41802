import { describe, expect, it } from "vitest";
import { fuzzLabels } from "./labels.ts";
import { fuzzYaml } from "./yaml.ts";

describe("hostile input by chance", () => {
  it("in labels is read, truncated and matched without harm", { timeout: 120_000 }, () => {
    const { bad, admitted } = fuzzLabels(500, 7);

    expect(bad).toEqual([]);
    expect(admitted).toBeGreaterThan(50);
  });

  it("in YAML is answered, and the server goes on", { timeout: 120_000 }, async () => {
    const { bad, statuses } = await fuzzYaml(300, 7);

    expect(bad).toEqual([]);
    expect(Object.keys(statuses).length).toBeGreaterThan(1);
  });
});
