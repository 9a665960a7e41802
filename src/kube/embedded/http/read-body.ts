import type { IncomingMessage } from "node:http";
import { parseDocument } from "yaml";
import { StatusError, unsupportedMedia } from "../api/status-error.ts";
import { isRecord } from "../json/json.ts";
import { deepestNesting, JsonSyntaxError, type Parsed, parseJson, standingAlone } from "../json/parse-json.ts";

/** As on the real server. */
const mostBodyBytes = 3 * 1_024 * 1_024;

/** The whole body as text. Throws 413 as soon as it is known to be too long. */
export function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"] ?? 0) > mostBodyBytes) return reject(tooLarge());
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostBodyBytes) {
        request.removeAllListeners("data");
        request.pause();
        return reject(tooLarge());
      }
      chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()));
    request.on("error", reject);
    request.on("close", () => {
      if (!request.complete)
        reject(new StatusError(400, "the request ended before its body", { reason: "BadRequest" }));
    });
  });
}

function tooLarge(): StatusError {
  const message = `Request entity too large: limit is ${mostBodyBytes}`;
  return new StatusError(413, message, { reason: "RequestEntityTooLarge" });
}

/** `application/json` of `application/json; charset=utf-8`; empty without a header. */
export function contentType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Parses a body of an object by its content type. Throws `JsonSyntaxError` when it cannot be read. */
export function parseBody(text: string, type: string): Parsed {
  if (type === "" || type === "application/json") return parseJson(text);
  if (type === "application/yaml") return parseYaml(text);
  if (type === "application/vnd.kubernetes.protobuf") {
    const instead = "use application/json or application/yaml; with kubectl: create -f, apply -f or replace -f a file";
    throw unsupportedMedia(`protobuf bodies are not supported by this server: ${instead}`);
  }
  const accepted = "application/json, application/yaml";
  throw unsupportedMedia(
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}

function parseYaml(text: string): Parsed {
  const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false, maxAliasCount: 50 } as object);
  const [problem] = document.errors;
  if (problem) throw new JsonSyntaxError(problem.message.split("\n")[0]);
  try {
    return { value: plain(document.toJS({ maxAliasCount: 50 }), 0), duplicates: [] };
  } catch (error) {
    throw error instanceof JsonSyntaxError ? error : new JsonSyntaxError((error as Error).message);
  }
}

/** YAML as the JSON it stands for: small integers as numbers, nothing but plain trees. */
function plain(value: unknown, depth: number): unknown {
  if (depth > deepestNesting) throw new JsonSyntaxError(`exceeded max depth of ${deepestNesting}`);
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) || BigInt.asIntN(64, value) !== value ? Number(value) : value;
  }
  if (typeof value === "string") return standingAlone(value);
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (!isRecord(value)) return value ?? null;
  if (Object.hasOwn(value, "__proto__")) throw new JsonSyntaxError("a field has a name that is not supported");
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [standingAlone(key), plain(part, depth + 1)]));
}
