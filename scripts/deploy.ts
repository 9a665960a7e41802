import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { agentManifests, grafanaDashboard, manifests, prometheusRules } from "../src/manifests/index.ts";
import { resourceKinds, toCrd } from "../src/resources/index.ts";

// npx tsx scripts/deploy.ts           writes deploy
// npx tsx scripts/deploy.ts --check   fails if a file there is not what would be written
const folder = new URL("../deploy/", import.meta.url);
const header = "# Written by scripts/deploy.ts from src. Change it there, then run: npm run docs\n";

/** Every file of deploy and what belongs in it. */
function deployFiles(): ReadonlyMap<string, string> {
  const crds = resourceKinds.map((kind): [string, string] => [`crds/${kebab(kind.kind)}.yaml`, yamlOf(toCrd(kind))]);
  const parts = [...manifests()].map(([name, objects]): [string, string] => [
    `${name}.yaml`,
    objects.map(yamlOf).join("---\n"),
  ]);
  const usual = [...crds, ...parts];
  const files = [
    ...usual,
    ["kustomization.yaml", kustomizationOf(usual.map(([path]) => path))] as const,
    ["agent/agent.yaml", agentManifests().map(yamlOf).join("---\n")] as const,
    ["agent/kustomization.yaml", kustomizationOf(["agent.yaml"])] as const,
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
  const outdated = [...deployFiles()].filter(
    ([path, text]) => !existsSync(at(path)) || readFileSync(at(path), "utf8") !== text,
  );
  return [...outdated.map(([path]) => path), ...leftovers()];
}

function leftovers(): string[] {
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.(yaml|json)$/.test(path),
  );
  return found.filter((path) => !deployFiles().has(path));
}

function at(path: string): URL {
  return new URL(path, folder);
}

if (import.meta.filename === process.argv[1]) {
  if (process.argv.includes("--check")) {
    for (const path of staleDeployFiles()) {
      console.error(`deploy/${path} is out of date. Run: npm run docs`);
      process.exitCode = 1;
    }
  } else {
    for (const path of leftovers()) rmSync(at(path));
    for (const [path, text] of deployFiles()) {
      mkdirSync(new URL(".", at(path)), { recursive: true });
      writeFileSync(at(path), text);
    }
  }
}
