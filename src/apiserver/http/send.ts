import type { ServerResponse } from "node:http";
import { stringify } from "yaml";
import type { ApiStatus } from "../api/status-error.ts";
import { writeJson } from "../json/json.ts";

/** Sends JSON text: as a string, which Node sends together with the headers. */
export function sendJson(response: ServerResponse, code: number, json: string, type = "application/json"): void {
  response.writeHead(code, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(json),
    "Cache-Control": "no-cache, private",
  });
  response.end(json);
}

export function sendText(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    "X-Content-Type-Options": "nosniff",
  });
  response.end(text);
}

export function sendYaml(response: ServerResponse, code: number, value: unknown): void {
  const body = stringify(value, { sortMapEntries: true, lineWidth: 0 });
  response.writeHead(code, { "Content-Type": "application/yaml", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

export function sendStatus(response: ServerResponse, status: ApiStatus): void {
  if (status.details?.retryAfterSeconds) response.setHeader("Retry-After", String(status.details.retryAfterSeconds));
  sendJson(response, status.code ?? 200, writeJson(status));
}

const maxWarnings = 50;

/** Sets one Warning header for each warning. Characters that a header cannot carry are replaced. */
export function setWarnings(response: ServerResponse, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const headers = warnings.slice(0, maxWarnings).map((text) => {
    const safe = text
      .slice(0, 500)
      .replace(/[^\x20-\x7e]/g, "?")
      .replace(/(["\\])/g, "\\$1");
    return `299 - "${safe}"`;
  });
  response.setHeader("Warning", headers);
}
