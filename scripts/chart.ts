import { Document, Scalar, stringify, visit } from "yaml";
import type { KubeObject } from "../src/kube/index.ts";
import {
  agentManifests,
  consoleManifests,
  digestPattern,
  latestPattern,
  type ManifestOptions,
  manifests,
  tagPattern,
  usualManifests,
  version,
} from "../src/manifests/index.ts";
import { resourceKinds, toCrd } from "../src/resources/index.ts";
import { deployedImage } from "./deployed-image.ts";

/**
 * The Helm chart, file by file: the manifests of `interlock manifests` with values of which every occurrence is found again and
 * becomes `{{ .Values… }}`. Nothing but substitutions and `if` is used, so that a test can render it without Helm.
 */
export function chartFiles(): ReadonlyMap<string, string> {
  const files = [...manifests(marked)].map(([name, objects]): [string, string] => [name, template(objects)]);
  const withTls = new Map(manifests({ ...marked, gatewayTls: tlsMark }));
  const templates = files.map(([name, text]): [string, string] =>
    name === "gateway" ? [name, choice(".Values.gatewayTls", template(withTls.get(name) ?? []), text)] : [name, text],
  );
  return new Map([
    ["Chart.yaml", stringify(chart, { lineWidth: 0 })],
    ["values.yaml", valuesText],
    ["values.schema.json", jsonText(valuesSchema)],
    ["templates/crds.yaml", template(resourceKinds.map(toCrd))],
    ...templates.map(([name, text]): [string, string] => [`templates/${name}.yaml`, text]),
    ["templates/agent.yaml", choice(".Values.agent", template(agentManifests(marked)))],
    ["templates/console.yaml", choice(".Values.console", template(consoleManifests(marked)))],
  ]);
}

const chart = {
  apiVersion: "v2",
  name: "interlock",
  description:
    "Decides whether automation may act now, lets one run act on a target at a time, and explains why nothing happened.",
  type: "application",
  version,
  appVersion: version,
};

const tlsMark = "mark-gateway-tls";

/** Values that occur nowhere else. */
const marked: ManifestOptions = {
  image: "mark-image",
  replicas: 987_654_321,
  places: {
    incidents: "mark-namespace",
    locks: "mark-namespace",
    watermarks: "mark-watermarks",
    runs: "mark-runs",
    agents: "mark-agents",
  },
};

const values: Readonly<Record<string, string>> = {
  "mark-image": ".Values.image",
  "987654321": ".Values.replicas",
  "mark-namespace": ".Values.namespaces.stages",
  "mark-watermarks": ".Values.namespaces.watermarks",
  "mark-runs": ".Values.namespaces.runs",
  "mark-agents": ".Values.namespaces.agents",
  [tlsMark]: ".Values.gatewayTls",
};

function template(objects: readonly KubeObject[]): string {
  let text = objects.map(markedText).join("---\n");
  if (text.includes("{{")) throw new TypeError("a manifest has braces that Helm would read as a template");
  for (const [mark, path] of Object.entries(values)) text = text.replaceAll(mark, `{{ ${path} }}`);
  return text;
}

/** Scalars that become a value are quoted, so that a name such as "on" stays text. */
function markedText(object: KubeObject): string {
  const document = new Document(object, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && node.value in values) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 });
}

function choice(path: string, then: string, otherwise?: string): string {
  const alternative = otherwise === undefined ? "" : `{{- else }}\n${otherwise}`;
  return `{{- if ${path} }}\n${then}${alternative}{{- end }}\n`;
}

/** With lists on one line, as the formatter writes them. */
function jsonText(value: object): string {
  const text = JSON.stringify(value, undefined, 2);
  return `${text.replace(/\[\s+([^\]]*?)\s+\]/g, (_list, items: string) => `[${items.replace(/\s+/g, " ")}]`)}\n`;
}

const { replicas, places } = usualManifests;

const valuesText = `# The image of all stages: that of your registry, best with its digest: NAME@sha256:…
image: ${deployedImage()}
# Replicas of each stage.
replicas: ${replicas}
namespaces:
  # Stages, incidents and Leases. The four namespaces have to be different ones.
  stages: ${places.locks}
  # Watermarks; nothing else may be in it.
  watermarks: ${places.watermarks}
  # Runs and target records.
  runs: ${places.runs}
  # Jobs in which coders run; used with the agent only.
  agents: ${places.agents}
# The agent, which needs the Secret interlock-agent (docs/agent.md).
agent: false
# The console, which acts in the name of its users (docs/cluster.md).
console: false
# Name of a Secret of the type kubernetes.io/tls, with which the gateway serves TLS. Empty: plain HTTP.
gatewayTls: ""
`;

const namespace = { type: "string", pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 63 };

const valuesSchema = {
  $schema: "https://json-schema.org/draft-07/schema#",
  title: "Values of the chart interlock",
  type: "object",
  additionalProperties: false,
  required: ["image", "replicas", "namespaces", "agent", "console", "gatewayTls"],
  properties: {
    image: {
      type: "string",
      pattern: "^[A-Za-z0-9][A-Za-z0-9._/:@-]*$",
      anyOf: [{ pattern: digestPattern }, { pattern: tagPattern, not: { pattern: `${latestPattern}|@` } }],
    },
    replicas: { type: "integer", minimum: 1 },
    namespaces: {
      type: "object",
      additionalProperties: false,
      required: ["stages", "watermarks", "runs", "agents"],
      properties: { stages: namespace, watermarks: namespace, runs: namespace, agents: namespace },
    },
    agent: { type: "boolean" },
    console: { type: "boolean" },
    gatewayTls: { type: "string", pattern: "^([a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$" },
    global: { type: "object" },
  },
};
