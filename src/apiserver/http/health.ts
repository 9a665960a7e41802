import type { ServerResponse } from "node:http";
import { sendText } from "./answer.ts";

const endpoints = new Set(["healthz", "livez", "readyz"]);

/** Answers the health questions, which need no token. False if it is not one of them. */
export function answeredHealth(response: ServerResponse, segments: readonly string[], query: URLSearchParams): boolean {
  const [endpoint = "", check] = segments;
  if (!endpoints.has(endpoint) || segments.length > 2 || (check !== undefined && check !== "ping")) return false;
  const verbose = query.has("verbose");
  sendText(response, 200, verbose ? `[+]ping ok\n${endpoint} check passed\n` : "ok");
  return true;
}
