import { setMaxListeners } from "node:events";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Certificate, createApp, listenWith, parseJsonBody, sendProblem } from "../../http/index.ts";
import { parse, type z } from "../../schema/index.ts";
import { type Logger, limitedWarnings } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import { type Identity, ProviderUnavailable, type Viewer } from "../identity/identity.ts";
import type { LogInWay } from "../wire.ts";
import { type ApiCall, type ApiRoute, type OpenCall, ProblemError, tooManyFailures } from "./api-route.ts";
import { checkCookieWrite, checkHost, checkOrigin, type RequestOrigin, servedHosts } from "./check-request.ts";
import { type CookieJar, cookieJar } from "./cookies.ts";
import { FailureLimit } from "./failure-limit.ts";
import { serveLogIn } from "./log-in.ts";
import { consoleOpenApi } from "./openapi.ts";
import { securityHeaders, tlsHeaders } from "./security-headers.ts";
import { sessionRoutes } from "./session-routes.ts";
import { encodeFile, findFile, type StaticFiles } from "./static-files.ts";
import { toProblem } from "./to-problem.ts";

export interface ConsoleServerOptions {
  readonly identity: Identity;
  /** Beyond those of sessions, which every console has. */
  readonly routes: readonly ApiRoute[];
  readonly files: StaticFiles;
  readonly listen: { readonly host: string; readonly port: number };
  readonly certificate?: Certificate | undefined;
  /** Where browsers reach the console, if that is not where it listens. */
  readonly publicUrl?: string | undefined;
  /** Names under which the console is reached, beyond those of this machine. */
  readonly hosts: readonly string[];
  /** Of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ConsoleServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Of an operation, or of a notification for the rule test bench. */
const maxBodyBytes = 1_024 * 1_024;

/** Serves the console: its API, the log-in and the web app. */
export async function serveConsole(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { certificate, listen, identity, clock } = options;
  const isSecure = certificate !== undefined || (options.publicUrl?.startsWith("https:") ?? false);
  const app = createApp({
    certificate,
    bodyLimit: maxBodyBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 300 },
  });
  const cookies = cookieJar({ isSecure, port: () => portOf(app) });
  const failures = new FailureLimit(options);
  const streams = new AbortController();
  // Every viewer listens to it.
  setMaxListeners(0, streams.signal);
  readJson(app);
  handleErrors(app, options);
  guard(app, { ...options, isSecure });
  serveLogIn(app, { identity, cookies, failures });
  const routes = [...sessionRoutes({ ...options, cookies }), ...options.routes];
  const document = consoleOpenApi(routes);
  for (const route of [...routes, openApiRoute(document)])
    serveRoute(app, route, { identity, cookies, failures, closing: streams.signal });
  for (const probe of probes) app.get(probe, async () => ({ status: "ok" }));
  serveFiles(app, options.files);
  const server = await listenWith(app, { listen, certificate, clock });
  return {
    url: server.url,
    async close() {
      streams.abort();
      await server.close();
    },
  };
}

/** The health checks of a cluster. */
const probes: readonly string[] = ["/healthz", "/readyz"];

function portOf({ server }: FastifyInstance): number {
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

function openApiRoute(document: object): ApiRoute {
  return {
    method: "GET",
    path: "/api/v1/openapi.json",
    summary: "This document.",
    access: "open",
    handle: async () => document,
  };
}

/** JSON only: a form of another page cannot send it without a preflight request. */
function readJson(app: FastifyInstance) {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, async (_request: FastifyRequest, body: string) =>
    parseJsonBody(body),
  );
}

function handleErrors(app: FastifyInstance, { log, clock }: ConsoleServerOptions) {
  const warn = limitedWarnings({ log, clock });
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const problem = toProblem(error);
    if (error instanceof ProviderUnavailable) warn("identity provider unavailable", { reason: error.message }, "");
    if (problem?.status === 503) reply.header("retry-after", "1");
    if (problem) return sendProblem(reply, problem.status, problem.message, problem.more);
    const { statusCode = 500 } = error;
    // The pattern of the route, never the URL: it may contain the token of a link.
    if (statusCode >= 500) log.error("request failed", { route: request.routeOptions.url, error });
    return sendProblem(reply, statusCode, details[statusCode] ?? "Internal error; see the console's log.");
  });
}

const details: Readonly<Record<number, string>> = {
  400: "The body is empty, is not JSON, or is nested too deeply.",
  404: "See GET /api/v1/openapi.json for all routes.",
  413: "The request is too large.",
  415: "Send JSON, with the header content-type: application/json.",
};

/** Checks that come before everything else, and headers that every response has. */
function guard(app: FastifyInstance, options: ConsoleServerOptions & { readonly isSecure: boolean }) {
  const { hosts, publicUrl, listen, isSecure } = options;
  const served = servedHosts(listen.host, [...hosts, ...(publicUrl ? [new URL(publicUrl).hostname] : [])]);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ ...securityHeaders, ...(isSecure ? tlsHeaders : {}) });
    // Probes address a Pod by its IP address. They read nothing but that the process runs.
    if (probes.includes(request.routeOptions.url ?? "")) return;
    const origin = requestOrigin(request);
    const isFile = !request.url.startsWith("/api/");
    const refusal = checkHost(origin, served) ?? (isFile && request.method === "GET" ? undefined : checkOrigin(origin));
    if (refusal) return sendProblem(reply, refusal.status, refusal.detail);
  });
}

function requestOrigin({ method, headers }: FastifyRequest): RequestOrigin {
  const fetchSite = headers["sec-fetch-site"];
  return {
    method,
    host: headers.host,
    origin: headers.origin,
    fetchSite: Array.isArray(fetchSite) ? fetchSite.join() : fetchSite,
  };
}

interface RouteDeps {
  readonly identity: Identity;
  readonly cookies: CookieJar;
  readonly failures: FailureLimit;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
}

function serveRoute(app: FastifyInstance, route: ApiRoute, deps: RouteDeps) {
  const callers = new WeakMap<FastifyRequest, Viewer>();
  app.route({
    method: route.method,
    url: route.path,
    // Before the body is read, so that an unauthenticated client costs little.
    onRequest: async (request, reply) => {
      if (route.access === "open") return;
      const viewer = await authenticate(request, deps);
      const refusal =
        viewer.via === "session" && route.method !== "GET" ? checkCookieWrite(requestOrigin(request)) : undefined;
      if (refusal) return sendProblem(reply, refusal.status, refusal.detail);
      if (route.access === "operator" && viewer.operations.length === 0) {
        return sendProblem(reply, 403, `${viewer.name} has the role ${viewer.role}, which may change nothing.`);
      }
      callers.set(request, viewer);
    },
    handler: async (request, reply) => {
      const call: OpenCall = {
        params: checked(route.params, request.params, "path"),
        query: checked(route.query, request.query, "query"),
        body: checked(route.body, request.body, "body"),
        lastEventId: lastEventId(request),
        request,
        reply,
        closing: deps.closing,
      };
      const result = await (route.access === "open"
        ? route.handle(call)
        : route.handle({ ...call, ...caller(request) }));
      if (reply.sent) return reply;
      return reply.header("cache-control", "no-store").send(result);
    },
  });

  function caller(request: FastifyRequest): Pick<ApiCall, "viewer" | "isStillValid"> {
    const viewer = callers.get(request);
    if (!viewer) throw new TypeError("the request was not authenticated");
    const isStillValid = async () => {
      const now = await findViewer(request, deps);
      return now !== undefined && viewer.readableKinds.every((kind) => now.readableKinds.includes(kind));
    };
    return { viewer, isStillValid };
  }
}

function findViewer({ headers }: FastifyRequest, { identity, cookies }: RouteDeps): Promise<Viewer | undefined> {
  return identity.authenticate({ authorization: headers.authorization, session: cookies.readSession({ headers }) });
}

/** Throws ProblemError for a caller without valid credentials. */
async function authenticate(request: FastifyRequest, deps: RouteDeps): Promise<Viewer> {
  const { failures } = deps;
  const { authorization } = request.headers;
  // A session cannot be guessed and is not limited: another client behind the same address must not lock its user out.
  const wait = authorization === undefined ? undefined : failures.waitSeconds(request.ip);
  if (wait !== undefined) throw tooManyFailures(wait);
  const viewer = await findViewer(request, deps);
  if (viewer) return viewer;
  if (authorization !== undefined) failures.failed(request.ip);
  const logIn = logInWays(deps.identity);
  const hint = logIn.includes("link") ? "Log in first: interlock users link prints a link." : "Log in first.";
  throw new ProblemError(401, `${hint} Programs send Authorization: Bearer TOKEN.`, { logIn });
}

function logInWays({ redeemLink, oidc }: Identity): readonly LogInWay[] {
  return [...(oidc ? (["oidc"] as const) : []), ...(redeemLink ? (["link"] as const) : []), "token"];
}

function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers["last-event-id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Throws ProblemError with every problem of an invalid value. */
function checked(schema: z.ZodType | undefined, value: unknown, part: string): Readonly<Record<string, unknown>> {
  if (!schema) return {};
  const parsed = parse(schema, value ?? {});
  if (parsed.kind === "valid") return parsed.value as Readonly<Record<string, unknown>>;
  const problems = parsed.problems.map(({ sentence }) => sentence);
  throw new ProblemError(400, `The ${part} of the request is not valid.`, { problems });
}

/** Serves every path that is no route of the API. */
function serveFiles(app: FastifyInstance, files: StaticFiles) {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.replace(/[?#].*$/s, "");
    const isRead = request.method === "GET" || request.method === "HEAD";
    const file = isRead && !path.startsWith("/api/") ? findFile(files, path) : undefined;
    if (!file) return sendProblem(reply, 404, details[404] ?? "");
    const { body, encoding } = encodeFile(file, String(request.headers["accept-encoding"] ?? ""));
    reply.type(file.type).header("cache-control", file.cacheControl).header("vary", "accept-encoding");
    if (encoding) reply.header("content-encoding", encoding);
    return reply.header("content-length", body.length).send(request.method === "HEAD" ? undefined : body);
  });
}
