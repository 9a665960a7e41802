import { KubeError, type KubeErrorCode } from "../client.ts";
import { describeOperation, type Operation, permissionFor } from "./operation.ts";
import type { HttpResponse } from "./read-response.ts";

/** The Status that the API server returns instead of an object: the fields we read. */
export interface FailureStatus {
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly causes?: readonly { readonly field?: string; readonly message?: string }[];
  };
}

/** The Status in a response that is not the requested object. */
export function parseStatus({ text, status }: HttpResponse): FailureStatus {
  try {
    const value = JSON.parse(text) as FailureStatus | null;
    if (typeof value === "object" && value !== null) return { ...value, code: status };
  } catch {
    // From a proxy in between, or the plain text for an unknown path.
  }
  return { code: status, message: text.slice(0, 200).trim() };
}

/** The object, or the list, in a successful response. */
export function parseContent<T>({ text }: HttpResponse, operation: Operation): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    // Without the cause: it quotes the text.
    const message = `${describeOperation(operation)}: the response is not JSON. Is this an API server?`;
    throw new KubeError("unavailable", message);
  }
}

/** The server has the kind, but no such object. A 404 without a name in it is about the path itself. */
export function isObjectMissing({ code, details }: FailureStatus): boolean {
  return code === 404 && details?.name !== undefined;
}

/** The error of a response that is no outcome of `operation`. */
export function toKubeError(status: FailureStatus, operation: Operation): KubeError {
  const code = errorCode(status);
  const message = statusMessage(status);
  if (code === "forbidden") {
    const permission = permissionFor(operation);
    return new KubeError(code, message.includes(permission) ? message : `${permission}: ${message}`);
  }
  const { apiVersion, plural } = operation.type;
  const hint =
    status.code === 404 && !isObjectMissing(status) ? ` (are the ${plural} of ${apiVersion} installed?)` : "";
  return new KubeError(code, `${describeOperation(operation)}: ${message}${hint}`);
}

function errorCode({ code = 0, reason }: FailureStatus): KubeErrorCode {
  if (code === 401 || code === 403) return "forbidden";
  if (code === 410 || reason === "Expired" || reason === "Gone") return "gone";
  // Another request was in the way (409, 429); 3xx is not followed, because it would take our credentials elsewhere.
  const isTransient = code === 409 || code === 429 || code === 408;
  return code >= 400 && code < 500 && !isTransient ? "invalid" : "unavailable";
}

/** The message of a Status names its causes, except where an admission webhook or a proxy wrote it. */
export function statusMessage({ code, message = "", details }: FailureStatus): string {
  const causes = (details?.causes ?? []).filter((cause) => cause.message && !message.includes(cause.message));
  const listed = causes.map((cause) => [cause.field, cause.message].filter(Boolean).join(": "));
  return [message || `HTTP ${code}`, ...listed].join("; ");
}
