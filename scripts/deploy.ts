import { existsSync, readdirSync } from "node:fs";
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
import { at, type GeneratedFiles, listOutdated, toYaml } from "./generated-files.ts";

const folders = ["deploy/", "charts/interlock/"];
const header = "# Written by scripts/deploy.ts from src. Change it there, then run: npm run docs\n";

/** All files of deploy/ and charts/interlock/. */
export function deployFiles(): GeneratedFiles {
  const deploy = [...manifestFiles()].map(([path, text]): [string, string] => [`deploy/${path}`, text]);
  const chart = [...chartFiles()].map(([path, text]): [string, string] => [
    `charts/interlock/${path}`,
    path.endsWith(".json") ? text : header + text,
  ]);
  return new Map([...deploy, ...chart]);
}

/** The files of deploy/, by their path in it. */
function manifestFiles(): ReadonlyMap<string, string> {
  const crds = resourceKinds.map((kind): [string, string] => [`crds/${kebab(kind.kind)}.yaml`, toYaml(toCrd(kind))]);
  const options = { ...usualManifests, image: deployedImage() };
  const parts = [...manifests(options)].map(([name, objects]): [string, string] => [
    `${name}.yaml`,
    objects.map(toYaml).join("---\n"),
  ]);
  const usual = [...crds, ...parts];
  const files = [
    ...usual,
    ["kustomization.yaml", kustomization(usual.map(([path]) => path))] as const,
    ["agent/agent.yaml", agentManifests(options).map(toYaml).join("---\n")] as const,
    ["agent/kustomization.yaml", kustomization(["agent.yaml"])] as const,
    ["console/console.yaml", consoleManifests(options).map(toYaml).join("---\n")] as const,
    ["console/kustomization.yaml", kustomization(["console.yaml"])] as const,
  ];
  return new Map([
    ...[...files, ["prometheus/rules.yaml", toYaml(prometheusRules())] as const].map(
      ([path, text]): [string, string] => [path, header + text],
    ),
    ["grafana/interlock.json", `${JSON.stringify(grafanaDashboard(), undefined, 2)}\n`],
  ]);
}

function kustomization(resources: readonly string[]): string {
  return toYaml({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources });
}

/** RemediationRequest → remediation-request */
function kebab(kind: string): string {
  return kind.replace(/(?<=.)[A-Z]/g, (capital) => `-${capital}`).toLowerCase();
}

/** Returns the files that are missing, out of date or no longer generated. */
export function staleDeployFiles(): string[] {
  return [...listOutdated(deployFiles()), ...listLeftovers()];
}

/** Returns the files that are no longer generated. */
export function listLeftovers(): string[] {
  const files = deployFiles();
  return folders.flatMap((folder) => {
    if (!existsSync(at(folder))) return [];
    const found = readdirSync(at(folder), { recursive: true, encoding: "utf8" }).map((path) => folder + path);
    return found.filter((path) => /\.(yaml|json)$/.test(path) && !files.has(path));
  });
}
