import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import { loadConfig } from "../config/index.ts";
import { systemRandom } from "../time/index.ts";
import { declaredKinds, type OpenedKinds, openKinds } from "./kinds.ts";

describe("the declared kinds of a configuration", () => {
  it("are known by kind and plural", () => {
    expect(
      declaredKinds(configOf("{ group: route.openshift.io, kind: Route, plural: routes, scope: Cluster }")),
    ).toEqual([{ group: "route.openshift.io", kind: "Route", plural: "routes", namespaced: false }]);
  });

  it.each([
    ["{ group: networking.k8s.io, kind: Ingress, plural: ingresses, scope: Namespaced }", "Ingress.networking.k8s.io"],
    ["{ group: networking.k8s.io, kind: Other, plural: ingresses, scope: Namespaced }", "ingresses.networking.k8s.io"],
  ])("%s cannot take the place of a built-in kind", (kind, named) => {
    expect(() => declaredKinds(configOf(kind))).toThrow(
      `kinds.declared declares ${named}, which is built in: remove it from the list`,
    );
  });
});

describe("a stage that may not read custom resource definitions", () => {
  let opened: OpenedKinds | undefined;
  const clock = new ManualClock();
  const cluster = testCluster({ clock, random: systemRandom() });
  beforeEach(() => cluster.forbid("list", "customresourcedefinitions"));
  afterEach(() => opened?.close());

  it("begins with the built-in and declared kinds, and logs once how to fix it", async () => {
    const log = recordingLogger();
    const loaded = loadedWith("{ group: route.openshift.io, kind: Route, plural: routes, scope: Namespaced }");

    opened = openKinds({ loaded, client: cluster.client(), clock, random: systemRandom(), log });
    await settle();
    await opened.kinds.synced;
    await clock.advance(600_000);

    expect(opened.kinds.current.find("node")).toBeDefined();
    expect(opened.kinds.current.find("routes.route.openshift.io")).toBeDefined();
    expect(log.events.filter(({ event }) => event === "custom kinds watch failed")).toMatchObject([
      { level: "warn", fields: { kind: "forbidden", fix: expect.stringContaining("grant get, list and watch") } },
    ]);
  });
});

function configOf(kind: string) {
  return loadedWith(kind).config;
}

function loadedWith(kind: string) {
  const yaml = { path: "interlock.yaml", text: `kinds:\n  declared:\n    - ${kind}\n` };
  const loaded = loadConfig({ yaml, env: {} });
  if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
  return loaded;
}
