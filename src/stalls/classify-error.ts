import { errorMessage, KubeError } from "../kube/index.ts";
import type { StallReason } from "../resources/index.ts";
import { toPrintable, withoutSecrets } from "../telemetry/index.ts";

/** Longer messages are cut: the response of a webhook can be a page of text. */
const maxErrorLength = 1_000;

/** Returns the reason of a failure. The API server names webhooks and quotas only in its message. */
export function classifyError(error: unknown): StallReason {
  if (!(error instanceof KubeError))
    return error instanceof Error && error.cause ? classifyError(error.cause) : "Error";
  if (/\bwebhook\b/i.test(error.message)) return "WebhookFailed";
  if (/exceeded quota:/.test(error.message)) return "QuotaExceeded";
  switch (error.code) {
    case "forbidden":
      return "Forbidden";
    case "invalid":
      return "Invalid";
    case "unavailable":
    case "gone":
      return "Unavailable";
    case "aborted":
      return "Error";
  }
}

/** Returns the message of an error for display: one line of limited length, without secrets. */
export async function errorText(error: unknown, redact?: (text: string) => string | Promise<string>): Promise<string> {
  const message = errorMessage(error);
  const redacted = (await redact?.(message)) ?? message;
  const text = toPrintable(withoutSecrets(redacted, []).replaceAll(/\s+/g, " ").trim());
  return text.length > maxErrorLength ? `${text.slice(0, maxErrorLength)}…` : text || "unknown error";
}
