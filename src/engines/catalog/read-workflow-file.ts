import { isJsonObject, type JsonObject } from "../../kube/index.ts";
import {
  entryName,
  type Kinds,
  type Reading,
  type RemediationWorkflow,
  read,
  readYamlFile,
  remediationWorkflows,
  type TextFile,
  workflowProblems,
} from "../../resources/index.ts";
import type { Problem } from "../../schema/index.ts";

export interface WorkflowFile extends TextFile {
  /** Name of the folder of the file: the local engine runs this folder unless the file names another. */
  readonly folder: string;
}

export type WorkflowReading =
  | { readonly kind: "valid"; readonly workflow: RemediationWorkflow }
  /** One sentence for each problem: `file:line: path problem`. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/**
 * Reads a catalog entry from a file: a whole RemediationWorkflow, as for kubectl, or the content of its spec alone. An unknown
 * field is a problem, because it is usually misspelt.
 */
export function readWorkflowFile({ folder, ...file }: WorkflowFile, kinds: Kinds): WorkflowReading {
  const yaml = readYamlFile(file);
  if (yaml.kind === "invalid") return yaml;
  const { value } = yaml;
  if (!isJsonObject(value))
    return invalid([`${yaml.at([])}: must be a RemediationWorkflow, or the content of its spec`]);
  const isWhole = "apiVersion" in value || "kind" in value;
  const reading = read(remediationWorkflows, withName(isWhole ? value : addEnvelope(value), folder));
  const problems = findProblems(reading, kinds);
  if (reading.kind === "valid" && problems.length === 0) return { kind: "valid", workflow: reading.object };
  const describe = ({ keys, sentence }: FileProblem) =>
    isWhole ? `${yaml.at(keys)}: ${sentence}` : `${yaml.at(keys.slice(1))}: ${sentence.replace(/^spec\./, "")}`;
  return invalid(problems.map(describe));
}

type FileProblem = Pick<Problem, "keys" | "sentence">;

/** Finds wrong types and unknown fields first; contradictions within an entry only if there are none. */
function findProblems(reading: Reading<RemediationWorkflow>, kinds: Kinds): readonly FileProblem[] {
  if (reading.kind === "invalid") return reading.problems;
  if (reading.strayFields.length > 0) return reading.strayFields;
  return workflowProblems(reading.object.spec, kinds).map((sentence) => {
    const [path = ""] = sentence.split(" ");
    return { keys: splitPath(path), sentence };
  });
}

function addEnvelope(spec: object): JsonObject {
  return { apiVersion: remediationWorkflows.apiVersion, kind: remediationWorkflows.kind, spec };
}

/** Adds a name that derives from workflow and version, so that one version is one entry whichever file it comes from. */
function withName(value: JsonObject, folder: string): JsonObject {
  const { metadata, spec } = value;
  if (!isJsonObject(spec)) return { ...value, metadata: isJsonObject(metadata) ? metadata : {} };
  const filled = spec["engine"] === "local" ? { containerImage: folder, ...spec } : spec;
  const { workflowId, version } = filled;
  const name = entryName({ workflowId: String(workflowId), version: String(version) });
  return { ...value, metadata: { ...(isJsonObject(metadata) ? metadata : {}), name }, spec: filled };
}

/** Splits a path such as `spec.targetKinds[0]` into its keys. */
function splitPath(path: string): readonly (string | number)[] {
  const keys = path.match(/[^.[\]]+/g) ?? [];
  return keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}

function invalid(problems: readonly string[]): WorkflowReading {
  return { kind: "invalid", problems: [...new Set(problems)] };
}
