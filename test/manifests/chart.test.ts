import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/kube/index.ts";
import { imageProblem, type ReleaseOptions, releaseObjects, usualManifests } from "../../src/manifests/index.ts";

const folder = "charts/interlock";
const pinned = `registry.example:5000/interlock@sha256:${"0123456789abcdef".repeat(4)}`;
const defaults = parse(readFileSync(`${folder}/values.yaml`, "utf8")) as Values;

interface Values {
  readonly image: string;
  readonly replicas: number;
  readonly namespaces: Readonly<Record<string, string>>;
  readonly agent: boolean;
  readonly console: boolean;
  readonly gatewayTls: string;
}

describe("the Helm chart", () => {
  it("renders to what interlock manifests prints, with the values that it has", () => {
    const { image } = defaults;

    expect(render(defaults)).toEqual(sorted(releaseObjects({ ...usualManifests, image, agent: false })));
  });

  it("renders to the same manifests with every other value", () => {
    const values: Values = {
      image: pinned,
      replicas: 5,
      namespaces: { stages: "on", watermarks: "marks", runs: "runs", agents: "agents" },
      agent: true,
      console: true,
      gatewayTls: "gateway-tls",
    };
    const options: ReleaseOptions = {
      image: values.image,
      replicas: 5,
      places: { incidents: "on", locks: "on", watermarks: "marks", runs: "runs", agents: "agents" },
      agent: true,
      console: true,
      gatewayTls: "gateway-tls",
    };

    expect(render(values)).toEqual(sorted(releaseObjects(options)));
  });

  it("has a schema that names each of its values, and no other", () => {
    const schema = JSON.parse(readFileSync(`${folder}/values.schema.json`, "utf8"));

    expect(Object.keys(schema.properties).filter((name) => name !== "global")).toEqual(Object.keys(defaults));
    expect(Object.keys(schema.properties.namespaces.properties)).toEqual(Object.keys(defaults.namespaces));
    expect(schema.additionalProperties).toBe(false);
    for (const name of Object.values(defaults.namespaces))
      expect(name).toMatch(new RegExp(schema.properties.namespaces.properties.stages.pattern));
  });

  it("has a schema that accepts an image with a digest or a version, as the command line does", () => {
    const { image } = JSON.parse(readFileSync(`${folder}/values.schema.json`, "utf8")).properties;
    const isValid = (text: string) => fits(text, image) && image.anyOf.some((rule: TextRule) => fits(text, rule));

    for (const good of [defaults.image, pinned, "interlock:0.1.0", "localhost:5000/interlock:0.1.0"]) {
      expect([good, isValid(good), imageProblem(good)]).toEqual([good, true, undefined]);
    }
    for (const bad of ["a", "a:latest", "localhost:5000/a", "a@sha256:abc", "a:1@sha256:abc", "a@b:c"]) {
      expect([bad, isValid(bad), imageProblem(bad)]).toEqual([bad, false, expect.any(String)]);
    }
    for (const text of ["a b:1", "a: b", "{{ x }}:1", ""]) expect([text, isValid(text)]).toEqual([text, false]);
  });

  it("has the version of the package", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));

    expect(parse(readFileSync(`${folder}/Chart.yaml`, "utf8"))).toMatchObject({
      name: "interlock",
      version,
      appVersion: version,
    });
  });
});

// The subset that the test renders by itself is what counts; Helm is asked too where it is installed.
if (spawnSync("helm", ["version"]).status === 0) {
  it("the Helm chart renders to the same with Helm itself", () => {
    const { stdout, stderr } = spawnSync("helm", ["template", "interlock", folder], { encoding: "utf8" });

    expect(stderr).toBe("");
    expect(sorted(documents(stdout))).toEqual(render(defaults));
  });
}

// Never KUBECONFIG: what a developer's shell points at is not for tests.
const { TEST_KUBECONFIG: kubeconfig } = process.env;
if (kubeconfig) {
  const suffix = Date.now().toString(36);
  const namespaces = Object.fromEntries(
    Object.keys(defaults.namespaces).map((name) => [name, `interlock-chart-${name}-${suffix}`]),
  );
  const places = Object.values(namespaces).map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));

  it("the Helm chart is accepted by the API server of TEST_KUBECONFIG, with no unknown field", {
    timeout: 60_000,
  }, () => {
    const values = { ...defaults, namespaces, agent: true, console: true, gatewayTls: "gateway-tls" };
    const objects = render(values);
    // A dry run finds only namespaces that exist.
    const made = kubectl(["apply", "-f", "-"], listOf(places));
    try {
      const { status, stdout, stderr } = kubectl(
        ["apply", "--dry-run=server", "--validate=strict", "-f", "-"],
        listOf(objects),
      );

      expect(made).toMatchObject({ status: 0 });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout.trim().split("\n")).toHaveLength(objects.length);
    } finally {
      kubectl(["delete", "-f", "-"], listOf(places));
    }
  });
}

function listOf(items: readonly KubeObject[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

function kubectl(args: readonly string[], input: string) {
  return spawnSync("kubectl", ["--kubeconfig", kubeconfig ?? "", ...args], { encoding: "utf8", input });
}

interface TextRule {
  readonly pattern: string;
  readonly not?: TextRule;
}

function fits(text: string, { pattern, not }: TextRule): boolean {
  return new RegExp(pattern).test(text) && !(not && fits(text, not));
}

/** By kind and name, because files and documents may come in any order. */
function sorted(objects: readonly KubeObject[]): readonly KubeObject[] {
  const key = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace ?? ""} ${metadata.name}`;
  return objects.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

function documents(text: string): readonly KubeObject[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJS() ? [document.toJS() as KubeObject] : []));
}

function render(values: Values): readonly KubeObject[] {
  const files = readdirSync(`${folder}/templates`);
  return sorted(
    files.flatMap((file) => documents(renderTemplate(readFileSync(`${folder}/templates/${file}`, "utf8"), values))),
  );
}

/** The part of Helm's language that the chart uses: `{{ .Values.a.b }}`, and `if`, `else`, `end` on lines of their own. */
function renderTemplate(text: string, values: Values): string {
  const lines: string[] = [];
  const open: boolean[] = [];
  for (const line of text.split("\n")) {
    const [, keyword, path] = /^\{\{- (if|else|end)(?: \.Values\.([\w.]+))? \}\}$/.exec(line) ?? [];
    if (keyword === "if") open.push(Boolean(lookUp(path ?? "", values)));
    else if (keyword === "else") open.push(!open.pop());
    else if (keyword === "end") open.pop();
    else if (open.every(Boolean))
      lines.push(line.replace(/\{\{ \.Values\.([\w.]+) \}\}/g, (_, path) => String(lookUp(path, values))));
  }
  const rendered = lines.join("\n");
  expect(open).toEqual([]);
  expect(rendered).not.toContain("{{");
  return rendered;
}

function lookUp(path: string, values: Values): unknown {
  const found = path
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], values);
  if (found === undefined) throw new Error(`the chart has no value ${path}`);
  return found;
}
