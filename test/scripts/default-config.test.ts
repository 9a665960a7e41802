import { expect, it } from "vitest";
import { toSource } from "../../scripts/to-source.ts";
import { defaultConfig } from "../../src/config/default-config.ts";
import { loadConfig } from "../../src/config/load.ts";

it("the bundled defaults are those that the settings declare", () => {
  const bundled = new Function(`return ${toSource(defaultConfig)}`)();

  expect(bundled).toEqual(loadConfig({ env: {} }));
});
