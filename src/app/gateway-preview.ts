import { readFile } from "node:fs/promises";
import { OperationError } from "../operate/index.ts";
import { findSignalPath } from "./signal-routes.ts";

/** A gateway, and the tokens of its senders. */
export interface PreviewingGateway {
  readonly url: string;
  /** Lines of senders and tokens in the configuration. */
  readonly tokens?: string | undefined;
  readonly tokenFile: string | undefined;
}

/** Requests a dry run of a payload from a gateway, with the token of the first sender that may post the source. */
export async function previewAtGateway<Preview>(
  gateway: PreviewingGateway | undefined,
  { source, payload, signal }: PreviewRequest,
): Promise<readonly Preview[]> {
  if (!gateway) {
    throw new OperationError("unavailable", "this console has no gateway", {
      hint: "test the payload with: interlock receive SOURCE -p FILE --dry-run --gateway URL",
    });
  }
  const path = findSignalPath(source);
  if (path === undefined) throw new OperationError("invalid", "the source is not the name of a source of signals");
  const { response, body } = await post(`${gateway.url}${path}?dryRun=true`, {
    token: findToken(await readLines(gateway), source),
    payload,
    signal,
  });
  const { results, detail, problems } = body as PreviewResponse<Preview>;
  if (results) return results;
  const facts = problems ? { details: problems } : {};
  throw new OperationError("invalid", `the gateway rejects the payload: ${detail ?? response.statusText}`, facts);
}

export interface PreviewRequest {
  /** As the caller names it. */
  readonly source: string;
  readonly payload: unknown;
  readonly signal: AbortSignal;
}

async function post(
  url: string,
  { token, payload, signal }: { readonly token: string; readonly payload: unknown; readonly signal: AbortSignal },
) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  try {
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(payload ?? {}), signal });
    return { response, body: await response.json() };
  } catch (cause) {
    throw new OperationError("unavailable", "the gateway does not respond", { cause });
  }
}

/** Results, or an RFC 9457 problem. */
interface PreviewResponse<Preview> {
  readonly results?: readonly Preview[];
  readonly detail?: string;
  readonly problems?: readonly string[];
}

async function readLines({ tokens, tokenFile }: PreviewingGateway): Promise<string> {
  return tokens ?? (tokenFile ? await readFile(tokenFile, "utf8") : "");
}

/** The token of the first sender that may post signals of `source`, in lines `NAME TOKEN` or `NAME TOKEN SOURCE,SOURCE`. */
export function findToken(lines: string, source: string): string {
  for (const line of lines.split(/[\n;]/)) {
    const [name = "", token, sources] = line.trim().split(/\s+/);
    const isSender = token !== undefined && !name.startsWith("#");
    if (isSender && (sources === undefined || sources.split(",").includes(source))) return token;
  }
  return "";
}
