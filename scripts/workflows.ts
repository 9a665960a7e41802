import { readFileSync } from "node:fs";
import { actions, actionsTable, workflowFiles } from "../src/actions/index.ts";
import { usualManifests } from "../src/manifests/index.ts";
import { at, type GeneratedFiles, toYaml } from "./generated-files.ts";

/** Every generated file of workflows/ by its path, and the reference in docs/actions.md. */
export function actionFiles(): GeneratedFiles {
  const { image, places } = usualManifests;
  const files = actions.flatMap((action) => {
    const bundle = `registry.example/interlock-actions/${action.name}:${action.version}`;
    const content = workflowFiles(action, { image, bundle, catalogNamespace: places.incidents });
    return [...content].map(([file, documents]): [string, string] => [
      `workflows/${action.name}/${file}`,
      header + documents.map(toYaml).join("---\n"),
    ]);
  });
  return new Map([...files, [page, actionsPage(readFileSync(at(page), "utf8"))]]);
}

const header = "# Generated from src/actions. Change it there, then run: npm run docs\n";
const page = "docs/actions.md";
const marker = "<!-- Generated from src/actions by npm run docs. -->\n";

/** Everything behind the marker is generated. */
function actionsPage(text: string): string {
  const [written] = text.split(marker);
  return `${written}${marker}\n${actionsTable()}`;
}
