import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  kindsWith,
  parseTarget,
  runName,
  type Target,
  targetHash,
  toRepositoryTarget,
} from "../../src/resources/index.ts";

const custom = { kind: "Rollout", plural: "rollouts", shortNames: ["ro"], group: "argoproj.io", namespaced: true };
const kinds = kindsWith([custom]);

const spellings: readonly (readonly [canonical: string, namespaced: boolean, others: readonly string[]])[] = [
  ["deployment", true, ["deploy", "deployments", "Deployment", "deployment.apps", "DEPLOYMENTS.extensions"]],
  ["pod", true, ["po", "pods", "Pod"]],
  ["networkpolicy", true, ["netpol", "networkpolicies", "NetworkPolicy.networking.k8s.io"]],
  ["endpoints", true, ["ep", "Endpoints"]],
  ["node", false, ["no", "nodes", "Node"]],
  ["clusterrole", false, ["clusterroles", "ClusterRole.rbac.authorization.k8s.io"]],
  ["rollout.argoproj.io", true, ["ro.argoproj.io", "Rollouts.argoproj.io", "ROLLOUT.ArgoProj.io"]],
];

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);

/** `xn--` announces punycode, and most of what could follow is none. */
const hostLabel = label.filter((text) => !text.startsWith("xn-"));

/** An object, and one of the ways to spell it. */
const spelled = fc
  .record({
    kind: fc.constantFrom(...spellings),
    cluster: fc.option(
      label.filter((name) => name !== "git"),
      { nil: undefined },
    ),
    namespace: label,
    name: fc.array(label, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(".")),
    spelling: fc.nat(),
  })
  .map(({ kind: [kind, namespaced, others], cluster, namespace, name, spelling }) => {
    const prefix = `${cluster === undefined ? "" : `${cluster}:`}${namespaced ? `${namespace}/` : ""}`;
    const ways = [kind, ...others];
    return { canonical: `${prefix}${kind}/${name}`, text: `${prefix}${ways[spelling % ways.length]}/${name}` };
  });

/** A branch of a repository, and one of the ways to spell it. */
const repository = fc
  .record({
    host: fc.array(hostLabel, { minLength: 1, maxLength: 3 }).map((parts) => [...parts, "example"].join(".")),
    path: fc.array(label, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/")),
    branch: fc.array(label, { minLength: 1, maxLength: 2 }).map((parts) => parts.join("/")),
    way: fc.constantFrom<(host: string, path: string) => string>(
      (host, path) => `${host}/${path}`,
      (host, path) => `https://${host}/${path}.git`,
      (host, path) => `https://oauth2:to%40ken@${host.toUpperCase()}:8443/${path}/`,
      (host, path) => `ssh://git@${host}:2222/${path.toUpperCase()}.git`,
      (host, path) => `git@${host}:${path}.git`,
    ),
  })
  .map(({ host, path, branch, way }) => ({
    canonical: `git:${host}/${path}@${branch}`,
    text: `git:${way(host, path)}@${branch}`,
    url: way(host, path),
    branch,
  }));

describe("any spelling of a target", () => {
  it("leads to the one canonical text, the same run name and the same hash", () => {
    fc.assert(
      fc.property(fc.oneof(spelled, repository), ({ canonical, text }) => {
        const [one, other] = [target(text), target(canonical)];

        expect(one).toEqual(other);
        expect(one.text).toBe(canonical);
        expect([runName(one), targetHash(one)]).toEqual([runName(other), targetHash(other)]);
      }),
    );
  });

  it("is canonical after one step: parsing the result changes nothing", () => {
    fc.assert(
      fc.property(fc.oneof(spelled, repository), ({ text }) => {
        const once = target(text);

        expect(target(once.text)).toEqual(once);
      }),
    );
  });

  it("is never a spelling of another target", () => {
    fc.assert(
      fc.property(fc.oneof(spelled, repository), fc.oneof(spelled, repository), (one, other) => {
        fc.pre(one.canonical !== other.canonical);

        expect(target(one.text).text).not.toBe(target(other.text).text);
        expect(targetHash(target(one.text))).not.toBe(targetHash(target(other.text)));
      }),
    );
  });

  it("means the same as a clone URL with its branch", () => {
    fc.assert(
      fc.property(repository, ({ canonical, url, branch }) => {
        expect(toRepositoryTarget({ url, branch })).toMatchObject({ kind: "target", target: { text: canonical } });
      }),
    );
  });
});

describe("any text at all", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.string({ maxLength: 80 }).map((rest) => `git:${rest}`),
    fc
      .array(
        fc.constantFrom(
          "git:",
          "a",
          "node",
          "deploy",
          "/",
          ":",
          "@",
          ".",
          "..",
          ".git",
          "-",
          "%2F",
          "[::1]",
          " ",
          "//",
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join("")),
  );

  it("is a target that stays the same when parsed again, or a problem in one sentence", () => {
    fc.assert(
      fc.property(text, (anything) => {
        const reading = parseTarget(anything, kinds);

        if (reading.kind === "problem") expect(reading.problem).toMatch(/^(is|has|names) [^\n]+$/);
        else expect(parseTarget(reading.target.text, kinds)).toEqual(reading);
      }),
      { numRuns: 2_000 },
    );
  });
});

function target(text: string): Target {
  const reading = parseTarget(text, kinds);
  if (reading.kind === "problem") throw new Error(`${text} ${reading.problem}`);
  return reading.target;
}
