import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Certificate, createApp, listenWith, parseJsonBody } from "../../http/index.ts";
import { type Logger, limitedWarnings, type PromMetrics } from "../../telemetry/index.ts";
import { type Clock, Pacer } from "../../time/index.ts";
import type { Gateway } from "../gateway.ts";
import type { SignalRoute } from "./authenticate.ts";
import { openApiDocument } from "./openapi.ts";
import { type ReportRejection, rejectionReporter, sendProblem } from "./problems.ts";
import type { Senders } from "./senders.ts";
import { type BodyChecks, type ServerLimits, serveSignals, wrongSignature } from "./signal-routes.ts";
import { serveTasks, type TaskRoute } from "./task-route.ts";

interface ServerOptions {
  readonly gateway: Gateway;
  readonly senders: Senders;
  /** The path of each source. */
  readonly routes: readonly SignalRoute[];
  /** Where tasks for the agent are posted. */
  readonly tasks?: TaskRoute | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  /** With it the gateway serves TLS only; without it, plain HTTP. */
  readonly certificate?: Certificate | undefined;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Served at /metrics. */
  readonly metrics: Pick<PromMetrics, "text" | "contentType">;
}

interface GatewayServer {
  readonly url: string;
  /** Finishes the requests under way and accepts no others. */
  close(): Promise<void>;
}

/** Serves a gateway over HTTP. */
export async function serveGateway(options: ServerOptions): Promise<GatewayServer> {
  const { certificate, listen, clock } = options;
  const bodyLimit = options.limits.bodyBytes;
  const app = createApp({ certificate, bodyLimit, routerOptions: { ignoreTrailingSlash: true } });
  const bodyChecks: BodyChecks = new WeakMap();
  readJson(app, bodyChecks, new Pacer(clock));
  const reportRejection = rejectionReporter(options.gateway.metrics, limitedWarnings(options));
  handleErrors(app, options, reportRejection);
  measure(app, options);
  serveInformation(app, options);
  serveSignals(app, { ...options, reportRejection }, bodyChecks);
  if (options.tasks) serveTasks(app, options.tasks, reportRejection);
  return listenWith(app, { listen, certificate, clock });
}

/** In characters. Longer bodies take milliseconds to parse and process, so they wait for their turn. */
const pacedLength = 16 * 1_024;

/** JSON, and CloudEvents, which are JSON. */
const contentTypes = ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"];

/** Parses only JSON. A body may contain `__proto__`: it is never merged into other objects. */
function readJson(app: FastifyInstance, bodyChecks: BodyChecks, pacer: Pacer) {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(contentTypes, { parseAs: "string" }, async (request: FastifyRequest, body: string) => {
    const isAccepted = bodyChecks.get(request);
    if (isAccepted && !isAccepted(body)) {
      throw Object.assign(new Error("the signature is wrong"), { statusCode: 401 });
    }
    bodyChecks.delete(request);
    if (body.length > pacedLength) await pacer.turn();
    return parseJsonBody(body);
  });
}

function handleErrors(app: FastifyInstance, { log, routes }: ServerOptions, reportRejection: ReportRejection) {
  app.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode === 401) {
      const source = routes.find(({ path }) => path === request.routeOptions.url)?.reader.source ?? "other";
      reportRejection(request, { source, reason: "unknown-token", detail: wrongSignature });
    }
    if (statusCode >= 500) log.error("request failed", { url: request.routeOptions.url, error });
    return sendProblem(reply, statusCode, details[statusCode] ?? "Internal error; see the gateway's log.");
  });
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 404, "See GET /openapi.json for all routes."));
}

const details: Readonly<Record<number, string>> = {
  400: "The body is empty, is not JSON, or is nested too deeply.",
  401: wrongSignature,
  413: "The request is too large. Send fewer signals per request.",
  415: "Send JSON, with the header content-type: application/json.",
};

function measure(app: FastifyInstance, { gateway, clock }: ServerOptions) {
  const startedAt = new WeakMap<FastifyRequest, number>();
  app.addHook("onRequest", (request, _reply, done) => {
    startedAt.set(request, clock.now());
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    gateway.metrics.responded(reply.statusCode, (clock.now() - (startedAt.get(request) ?? clock.now())) / 1_000);
    done();
  });
}

function serveInformation(app: FastifyInstance, { gateway, routes, tasks, metrics }: ServerOptions) {
  const document = openApiDocument(routes, tasks?.paths);
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const { isReady, problem } = gateway;
    if (isReady) return { status: "ready", ...(problem === undefined ? {} : { problem }) };
    return sendProblem(reply.header("retry-after", "1"), 503, "The gateway has not read all open incidents yet.");
  });
  app.get("/openapi.json", async () => document);
  app.get("/metrics", async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}
