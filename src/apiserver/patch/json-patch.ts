import { rejectedRequest } from "../api/status-error.ts";
import { type Draft, isRecord, sameJson, toDraft, writeJson } from "../json/json.ts";

interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

const maxOperations = 10_000;
/** Of everything that `copy` copies: a document that is copied into itself doubles each time. */
const maxCopiedCharacters = 3 * 1_024 * 1_024;

/** RFC 6902: `document` changed in place. Throws `rejectedRequest` when an operation does not fit. */
export function applyJsonPatch(document: unknown, operations: readonly unknown[]): unknown {
  if (operations.length > maxOperations) throw rejectedRequest();
  const root: Root = { document, copied: 0 };
  for (const operation of operations) operate(root, parseOperation(operation));
  return root.document;
}

interface Root {
  document: unknown;
  copied: number;
}

function copyWithin(root: Root, value: unknown): unknown {
  root.copied += writeJson(value ?? null).length;
  if (root.copied > maxCopiedCharacters) throw rejectedRequest();
  return toDraft(value);
}

function parseOperation(operation: unknown): PatchOperation {
  if (!isRecord(operation)) throw rejectedRequest();
  const { op, path, from, value } = operation as Partial<Record<keyof PatchOperation, unknown>>;
  if (typeof op !== "string" || typeof path !== "string") throw rejectedRequest();
  if ((op === "move" || op === "copy") && typeof from !== "string") throw rejectedRequest();
  return { op, path, ...(typeof from === "string" ? { from } : {}), value };
}

function operate(root: Root, { op, path, from = "", value }: PatchOperation) {
  switch (op) {
    case "add":
      return add(root, path, value);
    case "replace":
      return replace(root, path, value);
    case "remove":
      return remove(root, path);
    case "test":
      if (!sameJson(readValue(root, path) ?? null, value ?? null)) throw rejectedRequest();
      return;
    case "copy":
      return add(root, path, copyWithin(root, readValue(root, from)));
    case "move": {
      const moved = readValue(root, from);
      remove(root, from);
      return add(root, path, moved);
    }
    default:
      throw rejectedRequest();
  }
}

function add(root: Root, path: string, value: unknown) {
  const { parent, key } = place(root, path);
  if (Array.isArray(parent)) parent.splice(key === "-" ? parent.length : index(key, parent.length), 0, value);
  else parent[key] = value;
}

function replace(root: Root, path: string, value: unknown) {
  const { parent, key } = place(root, path);
  if (Array.isArray(parent)) parent[index(key, parent.length - 1)] = value;
  // The real server lets `replace` add an absent key, against the RFC; only `remove` insists.
  else parent[key] = value;
}

function remove(root: Root, path: string) {
  const { parent, key } = place(root, path);
  if (Array.isArray(parent)) parent.splice(index(key, parent.length - 1), 1);
  else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw rejectedRequest();
}

function readValue(root: Root, path: string): unknown {
  const { parent, key } = place(root, path);
  if (Array.isArray(parent)) return parent[index(key, parent.length - 1)];
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function place(root: Root, path: string): { parent: Draft | unknown[]; key: string } {
  const steps = path.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (steps[0] !== "" || steps.includes("__proto__")) throw rejectedRequest();
  // The whole document is the member of the root, so that it can be replaced like any other part.
  steps[0] = "document";
  const key = steps.pop() as string;

  let parent: unknown = root;
  for (const step of steps) {
    if (Array.isArray(parent)) parent = parent[index(step, parent.length - 1)];
    else if (isRecord(parent) && Object.hasOwn(parent, step)) parent = parent[step];
    else throw rejectedRequest();
  }
  if (!Array.isArray(parent) && !isRecord(parent)) throw rejectedRequest();
  return { parent, key };
}

function index(step: string, last: number): number {
  const at = Number(step);
  if (!/^(0|[1-9]\d*)$/.test(step) || at > last) throw rejectedRequest();
  return at;
}
