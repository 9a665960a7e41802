import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import {
  agentManifests,
  consoleManifests,
  grafanaDashboard,
  manifests,
  prometheusRules,
  usualManifests,
} from "../src/manifests/index.ts";
import { resourceKinds, toCrd } from "../src/resources/index.ts";
import { chartFiles } from "./chart.ts";
import { deployedImage } from "./deployed-image.ts";

// npx tsx scripts/deploy.ts           writes deploy and charts/interlock
// npx tsx scripts/deploy.ts --check   fails if a file there is not what would be written
const root = new URL("../", import.meta.url);
const folders = ["deploy/", "charts/interlock/"];
const header = "# Written by scripts/deploy.ts from src. Change it there, then run: npm run docs\n";

/** Every file that is written, by its path in the repository. */
function generatedFiles(): ReadonlyMap<string, string> {
  const deploy = [...deployFiles()].map(([path, text]): [string, string] => [`deploy/${path}`, text]);
  const chart = [...chartFiles()].map(([path, text]): [string, string] => [
    `charts/interlock/${path}`,
    path.endsWith(".json") ? text : header + text,
  ]);
  return new Map([...deploy, ...chart]);
}

/** Every file of deploy and what belongs in it. */
function deployFiles(): ReadonlyMap<string, string> {
  const crds = resourceKinds.map((kind): [string, string] => [`crds/${kebab(kind.kind)}.yaml`, yamlOf(toCrd(kind))]);
  const options = { ...usualManifests, image: deployedImage() };
  const parts = [...manifests(options)].map(([name, objects]): [string, string] => [
    `${name}.yaml`,
    objects.map(yamlOf).join("---\n"),
  ]);
  const usual = [...crds, ...parts];
  const files = [
    ...usual,
    ["kustomization.yaml", kustomizationOf(usual.map(([path]) => path))] as const,
    ["agent/agent.yaml", agentManifests(options).map(yamlOf).join("---\n")] as const,
    ["agent/kustomization.yaml", kustomizationOf(["agent.yaml"])] as const,
    ["console/console.yaml", consoleManifests(options).map(yamlOf).join("---\n")] as const,
    ["console/kustomization.yaml", kustomizationOf(["console.yaml"])] as const,
  ];
  return new Map([
    ...[...files, ["prometheus/rules.yaml", yamlOf(prometheusRules())] as const].map(
      ([path, text]): [string, string] => [path, header + text],
    ),
    ["grafana/interlock.json", `${JSON.stringify(grafanaDashboard(), undefined, 2)}\n`],
  ]);
}

function kustomizationOf(resources: readonly string[]): string {
  return yamlOf({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources });
}

function yamlOf(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** RemediationRequest → remediation-request */
function kebab(kind: string): string {
  return kind.replace(/(?<=.)[A-Z]/g, (capital) => `-${capital}`).toLowerCase();
}

/** The files that are missing, out of date or no longer written. */
export function staleDeployFiles(): string[] {
  const outdated = [...generatedFiles()].filter(
    ([path, text]) => !existsSync(at(path)) || readFileSync(at(path), "utf8") !== text,
  );
  return [...outdated.map(([path]) => path), ...leftovers()];
}

function leftovers(): string[] {
  const files = generatedFiles();
  return folders.flatMap((folder) => {
    if (!existsSync(at(folder))) return [];
    const found = readdirSync(at(folder), { recursive: true, encoding: "utf8" }).map((path) => folder + path);
    return found.filter((path) => /\.(yaml|json)$/.test(path) && !files.has(path));
  });
}

function at(path: string): URL {
  return new URL(path, root);
}

if (import.meta.filename === process.argv[1]) {
  if (process.argv.includes("--check")) {
    for (const path of staleDeployFiles()) {
      console.error(`${path} is out of date. Run: npm run docs`);
      process.exitCode = 1;
    }
  } else {
    for (const path of leftovers()) rmSync(at(path));
    for (const [path, text] of generatedFiles()) {
      mkdirSync(new URL(".", at(path)), { recursive: true });
      writeFileSync(at(path), text);
    }
  }
}
