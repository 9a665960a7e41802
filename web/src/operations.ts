import type { OperationName, OperationRequest, OperationResult, Row } from "../../src/console/wire.ts";
import { ApiError, postJson } from "./api.ts";
import { shortNames } from "./format.ts";

/** The inputs of an operation. */
export type OperationField = "reason" | "for" | "block" | "scope";

export interface OperationText {
  /** On the button. */
  readonly label: string;
  /** On the button that confirms it, if it differs. */
  readonly confirmLabel?: string;
  /** What the operation does, for the dialog. */
  readonly effect: string;
  readonly fields: readonly OperationField[];
  /** Whether the button warns. */
  readonly isDangerous?: boolean;
}

export const operationTexts: Readonly<Record<OperationName, OperationText>> = {
  ack: {
    label: "Acknowledge",
    effect: "Records that you checked the effects of the failed execution, and that a retry is safe.",
    fields: ["reason"],
  },
  approve: {
    label: "Approve",
    effect: "Lets the workflow run. All checks are repeated before it starts.",
    fields: ["reason"],
  },
  reject: {
    label: "Reject",
    effect: "Refuses the workflow. The incident is closed as rejected.",
    fields: ["reason"],
    isDangerous: true,
  },
  pause: {
    label: "Pause",
    effect: "Starts nothing new in this scope until the pause ends. Running executions continue.",
    fields: ["scope", "for", "reason"],
  },
  resume: {
    label: "Resume",
    effect: "Ends the pause. Incidents that waited for it are decided again.",
    fields: ["reason"],
  },
  cancel: {
    label: "Cancel",
    // "Cancel" alone would read as leaving the dialog.
    confirmLabel: "Cancel it",
    effect: "Stops it and records your name. What has already ended does not change.",
    fields: ["block", "reason"],
    isDangerous: true,
  },
  run: {
    label: "Run",
    effect: "Runs the workflow on the target if every check passes, as for an incident.",
    fields: ["reason"],
  },
  retry: {
    label: "Retry",
    effect: "Runs the workflow again with the same target and parameters, if every check passes.",
    fields: ["reason"],
  },
};

/** The words of a scope, as the command line has them: "all", "namespace payment", "target node/worker-1". */
export function parseScope(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** The same operation as a command line, safe to paste into a shell. */
export function commandLine(operation: OperationName, request: Omit<OperationRequest, "key">): string {
  const words = ["interlock", operation];
  if (operation === "run" && request.workflow) words.push(request.workflow);
  if (request.object !== undefined) {
    const [namespace, name] = splitKey(request.object);
    words.push(shortNames(name));
    // The command line finds a pause by its name alone.
    if (namespace !== undefined && operation !== "resume") words.push("-n", namespace);
  }
  words.push(...(request.scope ?? []));
  if (request.target !== undefined) words.push("--target", request.target);
  for (const [name, value] of Object.entries(request.parameters ?? {})) words.push("--param", `${name}=${value}`);
  if (request.namespace) words.push("-n", request.namespace);
  if (request.approval) words.push("--approval", request.approval);
  if (request.for) words.push("--for", request.for);
  if (request.block) words.push("--block");
  // Joined, as a reason may begin with a dash.
  if (request.reason)
    words.push(...(request.reason.startsWith("-") ? [`--reason=${request.reason}`] : ["--reason", request.reason]));
  return joinWords(words);
}

/** A command line of these words. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

function splitKey(object: string): readonly [string | undefined, string] {
  const slash = object.indexOf("/");
  return slash === -1 ? [undefined, object] : [object.slice(0, slash), object.slice(slash + 1)];
}

/** In single quotes if the word has characters that a shell interprets. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export interface FieldChange {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** Fields whose changes do not affect a decision, such as the count of reports. */
const immaterial = new Set([
  "version",
  "kind",
  "key",
  "name",
  "next",
  "createdAt",
  "seen",
  "lastSeenAt",
  "position",
  "waiting",
]);

/** The fields of a row that have changed since it was shown, as far as they affect a decision. */
export function rowChanges(before: Row, after: Row): readonly FieldChange[] {
  const [a, b] = [before, after] as unknown as readonly [Fields, Fields];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((field) => !immaterial.has(field))
    .map((field) => ({ field, before: fieldText(a[field]), after: fieldText(b[field]) }))
    .filter((change) => change.before !== change.after);
}

type Fields = Readonly<Record<string, unknown>>;

function fieldText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A new idempotency key. The browser offers randomUUID only over TLS and on this machine. */
export function newKey(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string {
  return Array.from(random(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Performs an operation. Repeats it after a conflict if nothing relevant has changed since the caller saw the row `seen`. */
export async function performOperation(
  operation: OperationName,
  request: OperationRequest,
  seen: Row | undefined,
): Promise<OperationResult> {
  const path = `/operations/${operation}`;
  try {
    return await postJson<OperationResult>(path, request);
  } catch (error) {
    const current = error instanceof ApiError && error.status === 409 ? error.problem.current : undefined;
    if (!current || !seen || rowChanges(seen, current).length > 0) throw error;
    return await postJson<OperationResult>(path, { ...request, ifVersion: current.version });
  }
}
