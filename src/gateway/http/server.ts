import { Server as HttpsServer } from "node:https";
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from "fastify";
import { isJsonDeeper } from "../../kube/index.ts";
import type { PayloadReading, Signal, SignalReading } from "../../resources/index.ts";
import type { Logger, PromMetrics } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Admission } from "../admission.ts";
import type { Gateway, NotAdmitted } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import { inSlices } from "../in-slices.ts";
import { answerTo, answerToDryRun, limited, retry, type SignalAnswer, statusCodeOf, unreadable } from "./answers.ts";
import { attributeSource, mayPost, type RouteSources } from "./attribute-source.ts";
import { type Certificate, type KeyPair, tlsOptions } from "./certificate.ts";
import { openApiDocument } from "./openapi.ts";
import { RateLimit } from "./rate-limit.ts";
import { mayPass, say } from "./say.ts";
import type { Sender, Senders } from "./senders.ts";
import type { SignalRoute } from "./signal-route.ts";
import { serveTasks, type TaskRoute } from "./task-route.ts";

export interface ServerOptions {
  readonly gateway: Gateway;
  readonly senders: Senders;
  /** Which path takes whose payloads. */
  readonly routes: readonly SignalRoute[];
  /** Where tasks for the coding agent are posted. */
  readonly tasks?: TaskRoute | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  /** With it the gateway serves TLS only; without it, plain HTTP. */
  readonly certificate?: Certificate | undefined;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** What /metrics says. */
  readonly metrics: Pick<PromMetrics, "text" | "contentType">;
}

export interface ServerLimits {
  /** Of one request. */
  readonly bodyBytes: number;
  /** Of one sender. */
  readonly signalsPerSecond: number;
  /** In one request. */
  readonly signalsPerRequest: number;
}

export interface GatewayServer {
  readonly url: string;
  /** Answers what is under way and takes nothing more. */
  close(): Promise<void>;
}

/** Serves a gateway over HTTP. */
export async function serveGateway(options: ServerOptions): Promise<GatewayServer> {
  const { certificate } = options;
  const app = Fastify({
    https: certificate ? { ...tlsOptions, handshakeTimeout: 10_000, ...certificate.current } : null,
    bodyLimit: options.limits.bodyBytes,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: "idle",
    // Names of routes are ours; what a sender writes behind them is nobody's parameter.
    routerOptions: { ignoreTrailingSlash: true },
  } as FastifyServerOptions);
  readJson(app);
  answerProblems(app, options);
  measure(app, options);
  serveInformation(app, options);
  serveSignals(app, options);
  if (options.tasks) serveTasks(app, options.tasks, options.gateway.metrics);
  await app.listen({ host: options.listen.host, port: options.listen.port, backlog: 2_048 });
  const address = app.server.address();
  const port = typeof address === "object" && address ? address.port : options.listen.port;
  const stop = new AbortController();
  const following = certificate && followCertificate(app, certificate, stop.signal);
  return {
    url: `${certificate ? "https" : "http"}://${options.listen.host}:${port}`,
    async close() {
      stop.abort();
      await following;
      await app.close();
    },
  };
}

/** New connections get the new certificate; those that are open go on with theirs. */
function followCertificate({ server }: FastifyInstance, certificate: Certificate, signal: AbortSignal): Promise<void> {
  const use = (pair: KeyPair) => {
    if (server instanceof HttpsServer) server.setSecureContext({ ...tlsOptions, ...pair });
  };
  return certificate.follow(use, signal);
}

/** Deeper than any payload of the senders that are read here. */
const maxBodyDepth = 100;

/** JSON and nothing else, without a copy that makes it safe: nothing of it is ever merged into an object of ours. */
function readJson(app: FastifyInstance) {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    const isTooDeep = isJsonDeeper(body as string, maxBodyDepth);
    try {
      if (isTooDeep) throw new SyntaxError("the body is nested too deeply");
      done(null, JSON.parse(body as string));
    } catch {
      done(Object.assign(new Error("the body is not JSON"), { statusCode: 400 }));
    }
  });
}

function answerProblems(app: FastifyInstance, { log }: ServerOptions) {
  app.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) log.error("request failed", { url: request.routeOptions.url, error });
    return say(reply, statusCode, details[statusCode] ?? "The gateway made a mistake. It is in its log.");
  });
  app.setNotFoundHandler((_request, reply) => say(reply, 404, "GET /openapi.json lists what there is."));
}

const details: Readonly<Record<number, string>> = {
  400: "The body is empty, is not JSON, or is nested too deeply.",
  413: "The request is larger than this gateway takes. Send fewer signals at a time.",
  415: "Send JSON, with the header content-type: application/json.",
};

function measure(app: FastifyInstance, { gateway, clock }: ServerOptions) {
  const startedAt = new WeakMap<FastifyRequest, number>();
  app.addHook("onRequest", (request, _reply, done) => {
    startedAt.set(request, clock.now());
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    gateway.metrics.answered(reply.statusCode, (clock.now() - (startedAt.get(request) ?? clock.now())) / 1_000);
    done();
  });
}

function serveInformation(app: FastifyInstance, { gateway, routes, tasks, metrics }: ServerOptions) {
  const document = openApiDocument(routes, tasks?.paths);
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    if (gateway.isReady) return { status: "ready" };
    return say(reply.header("retry-after", "1"), 503, "The gateway does not know all open incidents yet.");
  });
  app.get("/openapi.json", async () => document);
  app.get("/metrics", async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}

function serveSignals(app: FastifyInstance, options: ServerOptions) {
  const { limits, clock } = options;
  const builtIn = new Set([...options.routes.map(({ reader }) => reader.source), ...watchedSources]);
  const sourcesOf = (own: string) => ({ own, builtIn });
  const rate = new RateLimit(clock, limits.signalsPerSecond);
  const desk: SignalDesk = { ...options, rate, senderOf: new WeakMap(), sourcesOf };
  for (const route of options.routes) {
    app.route({
      method: "POST",
      url: route.path,
      // Before the body: a stranger has nothing read.
      onRequest: (request, reply) => letIn(request, reply, route, desk),
      handler: (request, reply) => take(request, reply, route, desk),
    });
    app.route({
      method: ["GET", "PUT", "PATCH", "DELETE"],
      url: route.path,
      handler: (_request, reply) => say(reply.header("allow", "POST"), 405, "Signals are posted."),
    });
  }
}

/** Sources without a route: the gateway reports them itself. */
const watchedSources = ["kubernetes-events", "kubernetes-nodes"];

interface SignalDesk extends Pick<ServerOptions, "gateway" | "senders" | "clock" | "limits"> {
  readonly rate: RateLimit;
  /** Whose request it is, from when it was let in. */
  readonly senderOf: WeakMap<FastifyRequest, Sender>;
  readonly sourcesOf: (own: string) => RouteSources;
}

/** Notes who asks; answers those who may not. */
async function letIn(request: FastifyRequest, reply: FastifyReply, { reader }: SignalRoute, desk: SignalDesk) {
  const { gateway, senders, senderOf } = desk;
  const token = /^Bearer +(\S{1,4096})$/i.exec(request.headers.authorization ?? "")?.[1];
  const sender = token === undefined ? undefined : await senders.find(token);
  if (!sender) {
    gateway.metrics.turnedAway(token === undefined ? "no-token" : "unknown-token");
    reply.header("www-authenticate", "Bearer");
    return say(reply, 401, "Send a token this gateway knows: Authorization: Bearer TOKEN.");
  }
  if (!mayPost(sender, desk.sourcesOf(reader.source))) {
    gateway.metrics.turnedAway("not-allowed");
    return say(reply, 403, `This token is for other sources. Use one that may send signals of ${reader.source}.`);
  }
  senderOf.set(request, sender);
}

async function take(request: FastifyRequest, reply: FastifyReply, route: SignalRoute, desk: SignalDesk) {
  const { gateway, clock, rate, senderOf } = desk;
  const { reader, retries429 } = route;
  if (listLength(request.body) > desk.limits.signalsPerRequest) {
    gateway.metrics.turnedAway("too-large");
    const instead = `Send at most ${desk.limits.signalsPerRequest} signals in one request (max_alerts of Alertmanager's receiver).`;
    return say(reply, 413, instead);
  }
  const reading = reader.read(request.body, new Date(clock.wallMs()).toISOString());
  if (reading.kind === "problems") return say(reply, 422, "Nothing of it was understood.", reading.problems);

  const sender = senderOf.get(request);
  if (!sender) throw new TypeError("a request without a sender was let in");
  const attributed = attributeAll(reading, sender, desk.sourcesOf(reader.source));
  if (attributed.kind === "forbidden") {
    gateway.metrics.turnedAway("not-allowed");
    return say(reply, 403, "This token may not send signals of that source.", attributed.problems);
  }
  const tooMany = rate.take(sender.name, Math.max(1, reading.readings.length));
  if (tooMany) {
    gateway.metrics.turnedAway("too-many");
    const seconds = String(tooMany.waitSeconds);
    return say(reply.header("retry-after", seconds), retries429 ? 429 : 503, `Send again in ${seconds} s.`);
  }
  if (isDryRun(request)) return answerDryRun(reply, attributed, desk);
  return answer(reply, attributed, gateway, route);
}

type Signals = Extract<PayloadReading, { kind: "signals" }>;
type Forbidden = { readonly kind: "forbidden"; readonly problems: readonly string[] };

/** The same signals with the sources that count. One that the sender may not send spoils all: it is no accident. */
function attributeAll(reading: Signals, sender: Sender, route: RouteSources): Signals | Forbidden {
  const problems: string[] = [];
  const readings = reading.readings.map((one, i): SignalReading => {
    if (one.kind !== "signal") return one;
    const attribution = attributeSource(one.signal, sender, route);
    if (attribution.kind === "forbidden") problems.push(`signals[${i}]: ${attribution.problem}`);
    else return { kind: "signal", signal: { ...one.signal, source: attribution.source, sender: sender.name } };
    return one;
  });
  return problems.length > 0 ? { kind: "forbidden", problems } : { ...reading, readings };
}

async function answer(reply: FastifyReply, reading: Signals, gateway: Gateway, { reader, retries429 }: SignalRoute) {
  if (reading.truncated > 0) gateway.truncated(reader.source, reading.truncated);
  const results = await answersTo(gateway, reading.readings);
  const code = statusCodeOf(results, { retries429 });
  if (code === 422) {
    const problems = results.flatMap((result) => result.problems ?? []);
    return say(reply, code, "Nothing of it was understood.", problems);
  }
  // Incidents are closed in minutes rather than seconds.
  const isLimited = results.some(({ status }) => status === "limited");
  if (code === 503 || code === 429) reply.header("retry-after", isLimited ? "30" : "2");
  return reply.code(code).send({ results, ...(reading.truncated > 0 ? { truncatedAlerts: reading.truncated } : {}) });
}

async function answersTo(gateway: Gateway, readings: readonly SignalReading[]): Promise<readonly SignalAnswer[]> {
  const signals = readings.flatMap((reading) => (reading.kind === "signal" ? [reading.signal] : []));
  const admissions = await gateway.admitAll(signals);
  let next = 0;
  return readings.map((reading) => {
    if (reading.kind === "problems") return unreadable(reading.problems);
    const admission = admissions[next++] as Admission | NotAdmitted;
    if (admission.kind !== "failed") return answerTo(admission);
    return answerToFailure(admission.error);
  });
}

/** Says of each signal what would become of it, and changes nothing. */
async function answerDryRun(reply: FastifyReply, { readings, truncated }: Signals, { gateway, clock }: SignalDesk) {
  const ask = async (signal: Signal) => answerToDryRun(await gateway.preview(signal));
  const results: SignalAnswer[] = [];
  await inSlices(readings, clock, async (slice) => {
    results.push(...(await Promise.all(slice.map((one) => tell(one, ask)))));
  });
  const isRetry = results.some(({ status }) => status === "retry");
  if (isRetry) reply.header("retry-after", "2");
  const more = truncated > 0 ? { truncatedAlerts: truncated } : {};
  return reply.code(isRetry ? 503 : 200).send({ dryRun: true, results, ...more });
}

function isDryRun({ query }: FastifyRequest): boolean {
  return (query as { readonly dryRun?: string }).dryRun === "true";
}

/** What `say` answers to a signal that can be read; that it has to come again, if something does not answer. */
async function tell(reading: SignalReading, say: (signal: Signal) => Promise<SignalAnswer>): Promise<SignalAnswer> {
  if (reading.kind === "problems") return unreadable(reading.problems);
  try {
    return await say(reading.signal);
  } catch (error) {
    return answerToFailure(error);
  }
}

function answerToFailure(error: unknown): SignalAnswer {
  if (error instanceof GatewayError && (error.code === "sender-limit" || error.code === "total-limit")) {
    return limited(error);
  }
  if (mayPass(error)) return retry;
  throw error;
}

/** How many entries the longest list of a body has: each may be a signal, and reading them all takes time. */
function listLength(body: unknown): number {
  if (Array.isArray(body)) return body.length;
  if (typeof body !== "object" || body === null) return 0;
  return Object.values(body).reduce((most, part) => Math.max(most, Array.isArray(part) ? part.length : 0), 0);
}
