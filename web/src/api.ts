import type { ProblemDocument } from "../../src/console/wire.ts";

/** A request that the server refused, or that did not reach it (`status` 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly problem: ProblemDocument;

  constructor(problem: ProblemDocument) {
    super(problem.detail);
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }

  /** The server did not answer, or was not ready: the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

const base = "/api/v1";

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, { ...(signal && { signal }) });
  return readJson(response, signal);
}

export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const response = await send(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return readJson(response);
}

/** Begins a session with a token of the API server, which becomes a cookie. */
export async function logIn(token: string): Promise<void> {
  await send("/session", { method: "POST", headers: { authorization: `Bearer ${token}` } });
}

export async function logOut(): Promise<void> {
  await send("/session", { method: "DELETE" });
}

/** The body of a stream of Server-Sent Events. `lastId` resumes it behind that event. */
export async function openStream(
  path: string,
  { lastId, signal }: { readonly lastId?: string | undefined; readonly signal: AbortSignal },
): Promise<ReadableStream<Uint8Array>> {
  const headers = { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) };
  const { body } = await send(path, { headers, signal });
  if (!body) throw noResponse("The stream is empty.");
  return body;
}

/** `path` with a query of those parameters that have a value. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** The path of an object by its key, NAMESPACE/NAME: of its page, and of its details in the API. */
export function objectPath(kind: string, key: string): string {
  const path = key.split("/").map(encodeURIComponent).join("/");
  // For the server, a last part with a dot is the name of a file.
  return `/${kind}/${path.replaceAll(".", "%2E")}`;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(base + path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw noResponse("The server does not respond.");
  }
  if (!response.ok) throw new ApiError(await readProblem(response));
  return response;
}

/** A body that is cut off, or that a proxy has replaced, is no response: the same request may succeed later. */
async function readJson<T>(response: Response, signal?: AbortSignal): Promise<T> {
  try {
    return parseJson(await response.text());
  } catch (error) {
    if (signal?.aborted) throw error;
    throw noResponse("The response of the server cannot be read.");
  }
}

function noResponse(detail: string): ApiError {
  return new ApiError({ type: "about:blank", title: "No response", status: 0, detail });
}

async function readProblem(response: Response): Promise<ProblemDocument> {
  const fallback = { type: "about:blank", title: response.statusText, status: response.status };
  try {
    const problem = parseJson<Partial<ProblemDocument>>(await response.text());
    return { ...fallback, ...problem, detail: problem.detail ?? problem.title ?? `HTTP ${response.status}` };
  } catch {
    return { ...fallback, detail: `The server responded with HTTP ${response.status}.` };
  }
}

/**
 * Parses JSON of the server. Characters that change the direction of text become visible as `\u202e`: a name from outside
 * could otherwise reorder the sentence around it.
 */
export function parseJson<T>(text: string): T {
  return JSON.parse(
    text.replace(/\p{Bidi_Control}/gu, (character) => `\\\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
