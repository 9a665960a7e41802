import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Call, Refusal, type Reply } from "./call.ts";
import { type Failure, Faults } from "./faults.ts";
import { type LoggedRequest, RequestLog } from "./request-log.ts";
import type { Found, Router } from "./router.ts";
import type { ServerTime } from "./server-time.ts";

export interface WebDouble {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly faults: Faults;
  readonly requests: RequestLog;
  close(): Promise<void>;
}

export interface WebDoubleOptions {
  readonly router: Router;
  readonly time: ServerTime;
  /** The reply to requests that match no route. */
  readonly notFound: (call: Call) => Reply;
  /** For paths that are not made of segments: the template to log them under, and who answers. */
  readonly special?: (method: string, path: string) => Found;
}

/** A real HTTP server with routes, faults and a log. */
export async function startWebDouble(options: WebDoubleOptions): Promise<WebDouble> {
  const faults = new Faults();
  const requests = new RequestLog();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    response.on("error", () => {});
    answer(request, response, { ...options, faults, requests }).catch(() => response.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Inside extends WebDoubleOptions {
  readonly faults: Faults;
  readonly requests: RequestLog;
}

async function answer(request: IncomingMessage, response: ServerResponse, inside: Inside): Promise<void> {
  const method = request.method ?? "GET";
  const url = request.url ?? "/";
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const special = inside.special?.(method, path);
  const found = special && special.kind !== "nothing" ? special : inside.router.find(method, path);
  const template = found.kind === "route" ? found.route.template : "unknown";
  const logged: LoggedRequest = { method, template, path: url, atMs: inside.time.nowMs() };
  inside.requests.add(logged);

  const subject = { method, template, path: url };
  const fate = inside.faults.fateOf(subject);
  const body = await bodyOf(request);
  if (fate.delayMs > 0) await sleep(fate.delayMs);
  for (const action of fate.before) await action(subject);

  const params = found.kind === "route" ? found.params : {};
  const call: Call = { method, path, params, query: new URLSearchParams(query), headers: request.headers, body };
  const reply = fate.failure ? failureReply(fate.failure) : await replyTo(call, found, inside);
  for (const action of fate.after) await action(subject);
  if (fate.isLost) return void response.socket?.destroy();

  logged.status = reply.status;
  send(response, reply, { dateMs: inside.time.nowMs() + inside.faults.dateSkewMs, cutAfter: fate.cutAfterBytes });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function replyTo(call: Call, found: Found, { notFound }: Inside): Promise<Reply> {
  try {
    if (found.kind === "route") return await found.route.handler(call);
    return found.kind === "wrong method" ? { status: 405, body: { error: "405 Not Allowed" } } : notFound(call);
  } catch (error) {
    if (error instanceof Refusal) return error.reply;
    console.error("a double failed by itself:", error);
    return { status: 500, body: { message: "500 Internal Server Error" } };
  }
}

/** Those who stand in front of such servers answer in their own words, and not in JSON. */
function failureReply({ status, retryAfterSeconds, body }: Failure): Reply {
  const headers = {
    "Content-Type": "text/plain",
    ...(retryAfterSeconds !== undefined && { "Retry-After": String(retryAfterSeconds) }),
    ...(status === 429 && { "RateLimit-Limit": "60", "RateLimit-Remaining": "0" }),
  };
  if (typeof body === "object") return { status, body, headers: { ...headers, "Content-Type": "application/json" } };
  return { status, headers, body: String(body ?? (status === 429 ? "Retry later\n" : `${status}: not just now\n`)) };
}

function send(
  response: ServerResponse,
  { status, body, headers }: Reply,
  { dateMs, cutAfter }: { dateMs: number; cutAfter: number | undefined },
): void {
  const isRaw = body instanceof Buffer || typeof body === "string";
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(isRaw ? body : JSON.stringify(body));
  response.sendDate = false;
  response.writeHead(status, {
    Date: new Date(dateMs).toUTCString(),
    ...(body !== undefined && !isRaw && { "Content-Type": "application/json" }),
    ...(status !== 204 && status !== 304 && { "Content-Length": String(bytes.length) }),
    ...headers,
  });
  if (cutAfter === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, cutAfter), () => response.socket?.destroy());
}
