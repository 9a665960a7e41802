import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LoadedConfig, loadConfig } from "../config/index.ts";
import { withShippedFolders } from "./context.ts";
import { packageFolder } from "./package.ts";

const ours = (name: string) => join(packageFolder, name);

describe("the folders of rules and workflows", () => {
  it.each([
    { there: [ours("rules"), ours("workflows")], rules: ours("rules"), workflows: ours("workflows") },
    { there: [ours("rules"), "rules", ours("workflows")], rules: "rules", workflows: ours("workflows") },
    { there: ["rules", "workflows", ours("rules"), ours("workflows")], rules: "rules", workflows: "workflows" },
    { there: [], rules: "rules", workflows: "workflows" },
  ])("are those of the package where the working directory has none: $there", ({ there, rules, workflows }) => {
    const { config } = withShippedFolders(load({}), (path) => there.includes(path));

    expect(config.rules.dir).toBe(rules);
    expect(config.execution.workflowsDir).toBe(workflows);
  });

  it("are those of a setting, even if they do not exist", () => {
    const { config } = withShippedFolders(load({ RULES_DIR: "ours" }), (path) => path.startsWith(packageFolder));

    expect(config.rules.dir).toBe("ours");
  });
});

function load(env: Readonly<Record<string, string>>): LoadedConfig {
  const loaded = loadConfig({ env });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  return loaded;
}
