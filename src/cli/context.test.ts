import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LoadedConfig, loadConfig } from "../config/index.ts";
import { releaseObjects, usualManifests } from "../manifests/index.ts";
import { storesWorkflows, withShippedFolders } from "./context.ts";
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

describe("the workflows of the folder", () => {
  it("are stored in the catalog by an executor on one machine", () => {
    expect(storesWorkflows(load({}))).toBe(true);
  });

  it("are not stored with the shipped settings of a cluster, where the executor may only read the catalog", () => {
    const yaml = { path: "interlock.yaml", text: shippedSettings("workflowexecution-config") };

    expect(storesWorkflows(load({}, yaml))).toBe(false);
  });

  it("are stored in a cluster if a setting names the folder", () => {
    expect(storesWorkflows(load({ OBJECTS_SERVER: "in-cluster", WORKFLOWS_DIR: "/workflows" }))).toBe(true);
  });
});

function shippedSettings(name: string): string {
  const found = releaseObjects({ ...usualManifests, agent: false }).find(
    (one) => one.kind === "ConfigMap" && one.metadata.name === name,
  );
  return (found as unknown as { data: { "interlock.yaml": string } }).data["interlock.yaml"];
}

function load(
  env: Readonly<Record<string, string>>,
  yaml?: { readonly path: string; readonly text: string },
): LoadedConfig {
  const loaded = loadConfig({ env, yaml });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  return loaded;
}
