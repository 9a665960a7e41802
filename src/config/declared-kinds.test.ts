import { describe, expect, it } from "vitest";
import { describeConfig } from "./describe.ts";
import { loadConfig } from "./load.ts";

const route = "{ group: route.openshift.io, version: v1, kind: Route, plural: routes, scope: Namespaced }";

describe("kinds.declared", () => {
  it.each(["*unknown", "[*unknown]", "&all [*all]"])("with the alias %s is refused", (text) => {
    const loaded = load(`kinds:\n  declared: ${text}\n`);

    expect(loaded).toEqual({
      kind: "invalid",
      problems: ["file interlock.yaml:2: kinds.declared has an alias that cannot be resolved. Write the value itself."],
    });
  });

  it("is a list of kinds", () => {
    const loaded = load(`kinds:\n  declared:\n    - ${route}\n`);
    if (loaded.kind !== "loaded") throw new Error(loaded.problems.join());

    expect(loaded.config.kinds.declared).toEqual([
      { group: "route.openshift.io", version: "v1", kind: "Route", plural: "routes", scope: "Namespaced" },
    ]);
    expect(loaded.origins.get("kinds.declared")).toBe("file interlock.yaml:2");
    expect(describeConfig(loaded)).toContainEqual(
      expect.objectContaining({ setting: "kinds.declared", value: "Route.route.openshift.io" }),
    );
  });

  it("is accepted in the policy file", () => {
    const loaded = loadConfig({ policy: { path: "policy.yaml", text: `kinds: { declared: [${route}] }\n` }, env: {} });

    expect(loaded.kind === "loaded" && loaded.config.kinds.declared).toHaveLength(1);
  });

  it.each([
    ["Route", "is not a list"],
    ["{ group: a.b }", "is not a list"],
    ["[Route]", "has entry 1, which is not a structure"],
    [`[${route}, ${route.replace("plural: routes, ", "")}]`, "has entry 2, whose plural is missing"],
    [
      `[${route.replace("route.openshift.io", "openshift")}]`,
      "has entry 1, whose group must be a name such as route.openshift.io",
    ],
    [`[${route.replace("v1", "1")}]`, "has entry 1, whose version must be a name such as v1"],
    [`[${route.replace("kind: Route", "kind: route")}]`, "has entry 1, whose kind must be a name such as Route"],
    [
      `[${route.replace("plural: routes", "plural: Routes")}]`,
      "has entry 1, whose plural must be a name such as routes",
    ],
    [`[${route.replace("Namespaced", "Namespace")}]`, "has entry 1, whose scope must be one of Namespaced, Cluster"],
    [
      `[${route.replace("scope", "scop")}]`,
      "has entry 1, which has a field other than group, version, kind, plural, scope",
    ],
    [`[${route}, ${route}]`, "has route.route.openshift.io in entry 1 and in entry 2"],
  ])("%s is refused, with its line and what to write", (written, problem) => {
    const loaded = load(`kinds:\n  declared: ${written}\n`);

    const [found = "", ...others] = loaded.kind === "invalid" ? loaded.problems : [];
    expect(found).toContain(`file interlock.yaml:2: kinds.declared ${problem}`);
    expect(found).toContain("Write a list of kinds such as");
    expect(others).toEqual([]);
  });
});

function load(text: string) {
  return loadConfig({ yaml: { path: "interlock.yaml", text }, env: {} });
}
