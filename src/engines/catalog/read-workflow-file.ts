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
  /** Name of the folder that it is in: the local engine runs it unless the file names another. */
  readonly folder: string;
}

export type WorkflowReading =
  | { readonly kind: "valid"; readonly workflow: RemediationWorkflow }
  /** One sentence for each thing to put right: `file:line: path problem`. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/**
 * A catalog entry from a file: a whole RemediationWorkflow, as kubectl takes it, or the content of its spec alone. In a
 * file that a person wrote, an unknown field is a mistake.
 */
export function readWorkflowFile({ folder, ...file }: WorkflowFile, kinds: Kinds): WorkflowReading {
  const yaml = readYamlFile(file);
  if (yaml.kind === "invalid") return yaml;
  const { value } = yaml;
  if (!isObject(value)) return invalid([`${yaml.at([])}: must be a RemediationWorkflow, or the content of its spec`]);
  const isWhole = "apiVersion" in value || "kind" in value;
  const reading = read(remediationWorkflows, withName(isWhole ? value : addEnvelope(value), folder));
  const problems = findProblems(reading, kinds);
  if (reading.kind === "valid" && problems.length === 0) return { kind: "valid", workflow: reading.object };
  return invalid(
    problems.map(({ keys, sentence }) => {
      return isWhole
        ? `${yaml.at(keys)}: ${sentence}`
        : `${yaml.at(keys.slice(1))}: ${sentence.replace(/^spec\./, "")}`;
    }),
  );
}

/** Contradictions within an entry can be found only once all of its fields have the right type. */
function findProblems(
  reading: Reading<RemediationWorkflow>,
  kinds: Kinds,
): readonly Pick<Problem, "keys" | "sentence">[] {
  if (reading.kind === "invalid") return reading.problems;
  if (reading.strayFields.length > 0) return reading.strayFields;
  return workflowProblems(reading.object.spec, kinds).map((sentence) => {
    return { keys: splitPath(sentence.split(" ")[0] ?? ""), sentence };
  });
}

function addEnvelope(spec: object): Record<string, unknown> {
  return { apiVersion: remediationWorkflows.apiVersion, kind: remediationWorkflows.kind, spec };
}

/** Entries are named by what they are, so that one version is one entry, wherever and however often it is read. */
function withName(value: Record<string, unknown>, folder: string): Record<string, unknown> {
  const { metadata, spec } = value;
  if (!isObject(spec)) return { ...value, metadata: isObject(metadata) ? metadata : {} };
  const filled = spec["engine"] === "local" ? { containerImage: folder, ...spec } : spec;
  const { workflowId, version } = filled;
  const name = entryName({ workflowId: String(workflowId), version: String(version) });
  return { ...value, metadata: { ...(isObject(metadata) ? metadata : {}), name }, spec: filled };
}

/** Splits a path such as `spec.targetKinds[0]` into its keys. */
function splitPath(path: string): readonly (string | number)[] {
  const keys = path.match(/[^.[\]]+/g) ?? [];
  return keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(problems: readonly string[]): WorkflowReading {
  return { kind: "invalid", problems: [...new Set(problems)] };
}
