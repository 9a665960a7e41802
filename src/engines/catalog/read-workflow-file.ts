import { isNode, LineCounter, parseDocument } from "yaml";
import {
  entryName,
  type Kinds,
  type Problem,
  type RemediationWorkflow,
  read,
  remediationWorkflows,
  workflowProblems,
} from "../../resources/index.ts";

export interface WorkflowFile {
  /** For people only; nothing is read from it. */
  readonly path: string;
  readonly text: string;
  /** Name of the folder that it is in: what the local engine runs, unless the file says otherwise. */
  readonly folder: string;
}

export type WorkflowReading =
  | { readonly kind: "valid"; readonly workflow: RemediationWorkflow }
  /** One sentence for each thing to put right: `file:line: path problem`. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/**
 * A catalog entry from a file: a whole RemediationWorkflow, as kubectl takes it, or the content of its spec alone. In a
 * file that a person wrote a field that nobody knows is a mistake.
 */
export function readWorkflowFile({ path, text, folder }: WorkflowFile, kinds: Kinds): WorkflowReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return invalid(faults.map(({ pos, code }) => `${path}:${lines.linePos(pos[0]).line}: is not valid YAML (${code})`));
  }

  const value: unknown = document.toJS();
  if (!isObject(value)) return invalid([`${path}:1: must be a RemediationWorkflow, or the content of its spec`]);
  const isWhole = "apiVersion" in value || "kind" in value;
  const reading = read(remediationWorkflows, withName(isWhole ? value : enveloped(value), folder));
  const problems = reading.kind === "invalid" ? reading.problems : reading.strayFields;
  const found = problems.length > 0 || reading.kind === "invalid" ? problems : meaning(reading.object, kinds);
  if (found.length > 0 || reading.kind === "invalid") {
    return invalid(
      found.map(({ path: place, sentence }) => {
        const written = isWhole ? sentence : sentence.replace(/^spec\./, "");
        return `${path}:${lineOf(isWhole ? place : place.replace(/^spec\.?/, ""))}: ${written}`;
      }),
    );
  }
  return { kind: "valid", workflow: reading.object };

  /** The line of what `place` names, or of the nearest thing above it that is there. */
  function lineOf(place: string): number {
    const keys = place.match(/"(?:[^"\\]|\\.)*"|[^.[\]]+/g) ?? [];
    for (let depth = keys.length; depth > 0; depth--) {
      const node = document.getIn(keys.slice(0, depth).map(keyOf), true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  }
}

/** What fits no shape is known only when everything has its shape. */
function meaning({ spec }: RemediationWorkflow, kinds: Kinds): Problem[] {
  return workflowProblems(spec, kinds).map((sentence) => ({ path: sentence.split(" ")[0] ?? "", sentence }));
}

function enveloped(spec: object): Record<string, unknown> {
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

function keyOf(part: string): string | number {
  if (part.startsWith('"')) return JSON.parse(part) as string;
  return /^\d+$/.test(part) ? Number(part) : part;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(problems: readonly string[]): WorkflowReading {
  return { kind: "invalid", problems: [...new Set(problems)] };
}
