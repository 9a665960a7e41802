import { withoutSecrets } from "../../telemetry/index.ts";
import { RemoteError, type RemoteErrorKind } from "../remote-error.ts";

export interface FailedResponse {
  readonly request: { readonly method: string; readonly path: string };
  readonly response: { readonly status: number; readonly headers: Headers };
  readonly text: string;
  readonly secrets: readonly string[];
  readonly wallMs: number;
}

/** Returns the error for a response with an error status. It contains the server's message, without our secrets. */
export function toRemoteError(
  { request, response, text, secrets, wallMs }: FailedResponse,
  { name, fixes }: { readonly name: string; readonly fixes: Readonly<Record<number, string>> },
): RemoteError {
  const { status, headers } = response;
  const retryAfterMs = retryAfter(headers.get("retry-after"), wallMs);
  const path = withoutSecrets(request.path, secrets);
  const detail = withoutSecrets(extractMessage(text).replace(/\s+/g, " ").trim(), secrets).slice(0, 500);
  const fix = fixes[status] ? `; ${fixes[status]}` : "";
  const message = `${name} responded ${status} to ${request.method} ${path}${detail && `: ${detail}`}${fix}`;
  return new RemoteError(errorKind(status), message, { status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

function errorKind(status: number): RemoteErrorKind {
  if (status === 401 || status === 403) return "denied";
  if (status === 404 || status === 410) return "missing";
  return status >= 500 || [408, 425, 429].includes(status) ? "unavailable" : "refused";
}

/** A longer delay is a mistake of the server or of a proxy: the task would wait although the server has recovered. */
const maxRetryAfterMs = 3_600_000;

/** Seconds or a date. */
function retryAfter(value: string | null, wallMs: number): number | undefined {
  if (value === null) return undefined;
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - wallMs;
  return Number.isNaN(delayMs) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, delayMs));
}

/** Extracts the message from the JSON of GitLab and Jira; other text is returned unchanged. */
function extractMessage(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The HTML page of a proxy contains nothing useful.
    return text.trimStart().startsWith("<") ? "" : text;
  }
  if (typeof body !== "object" || body === null) return String(body);
  const { message, error_description, error, errorMessages, errors } = body as Record<string, unknown>;
  const parts = [message, error_description ?? error, errorMessages, errors].filter((each) => each !== undefined);
  return parts.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("; ");
}
