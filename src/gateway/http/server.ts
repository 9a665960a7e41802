import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Certificate, createApp, listenWith, parseJsonBody } from "../../http/index.ts";
import type { PayloadReading, Signal, SignalReader, SignalReading } from "../../resources/index.ts";
import type { Logger, PromMetrics } from "../../telemetry/index.ts";
import { type Clock, Pacer } from "../../time/index.ts";
import type { Admission, NotAdmitted } from "../admission.ts";
import { sliceSignals } from "../admitter.ts";
import type { Gateway } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import {
  isOutage,
  retry,
  type SignalAnswer,
  sendProblem,
  statusCode,
  toAnswer,
  toDryRunAnswer,
  toInvalidAnswer,
  toLimitedAnswer,
  toUnreadableAnswer,
} from "./answers.ts";
import { attributeSource, type RouteSources } from "./attribute-source.ts";
import type { SignalRoute } from "./authenticate.ts";
import { type AuthenticateOptions, type Authentication, authenticate, type BodyCheck } from "./authenticate.ts";
import { openApiDocument } from "./openapi.ts";
import { RateLimit } from "./rate-limit.ts";
import type { Sender, Senders } from "./senders.ts";
import { serveTasks, type TaskRoute } from "./task-route.ts";

export interface ServerOptions {
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
  /** Finishes the requests under way and accepts no others. */
  close(): Promise<void>;
}

/** Serves a gateway over HTTP. */
export async function serveGateway(options: ServerOptions): Promise<GatewayServer> {
  const { certificate, listen } = options;
  const bodyLimit = options.limits.bodyBytes;
  const app = createApp({ certificate, bodyLimit, routerOptions: { ignoreTrailingSlash: true } });
  const bodyChecks: BodyChecks = new WeakMap();
  readJson(app, bodyChecks, new Pacer(options.clock));
  answerProblems(app, options);
  measure(app, options);
  serveInformation(app, options);
  serveSignals(app, options, bodyChecks);
  if (options.tasks) serveTasks(app, options.tasks, options.gateway.metrics);
  return listenWith(app, { listen, certificate });
}

/** Characters. Longer bodies take milliseconds to read and to work on, so they wait for their turn. */
const pacedLength = 16 * 1_024;

/** JSON, and CloudEvents, which are JSON. */
const contentTypes = ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"];

/** The signature checks of requests whose body is not parsed yet. */
type BodyChecks = WeakMap<FastifyRequest, BodyCheck>;

/** JSON only. No copy protects against `__proto__`: parsed bodies are never merged into other objects. */
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

function answerProblems(app: FastifyInstance, { log, gateway }: ServerOptions) {
  app.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode === 401) gateway.metrics.rejected("unknown-token");
    if (statusCode >= 500) log.error("request failed", { url: request.routeOptions.url, error });
    return sendProblem(reply, statusCode, details[statusCode] ?? "Internal error; see the gateway's log.");
  });
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 404, "See GET /openapi.json for all routes."));
}

const details: Readonly<Record<number, string>> = {
  400: "The body is empty, is not JSON, or is nested too deeply.",
  401: "The signature does not match the body with any configured secret.",
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
    gateway.metrics.answered(reply.statusCode, (clock.now() - (startedAt.get(request) ?? clock.now())) / 1_000);
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

function serveSignals(app: FastifyInstance, options: ServerOptions, bodyChecks: BodyChecks) {
  const { limits, clock } = options;
  const builtIn = new Set([...options.routes.map(({ reader }) => reader.source), ...watchedSources]);
  const sourcesOf = (own: string) => ({ own, builtIn });
  const rate = new RateLimit(clock, limits.signalsPerSecond);
  const deps: SignalDeps = { ...options, rate, admitted: new WeakMap(), bodyChecks, sourcesOf };
  for (const route of options.routes) {
    app.route({
      method: "POST",
      url: route.path,
      // Before the body is read, so that an unauthenticated sender costs little.
      onRequest: (request, reply) => authenticateRequest(request, reply, route, deps),
      handler: (request, reply) => handleSignals(request, reply, deps),
    });
    app.route({
      method: ["GET", "PUT", "PATCH", "DELETE"],
      url: route.path,
      handler: (_request, reply) => sendProblem(reply.header("allow", "POST"), 405, "Use POST."),
    });
  }
}

/** Sources without a route: the gateway reports them itself. */
const watchedSources = ["kubernetes-events", "kubernetes-nodes"];

interface SignalDeps extends AuthenticateOptions, Pick<ServerOptions, "gateway" | "clock" | "limits"> {
  readonly rate: RateLimit;
  readonly admitted: WeakMap<FastifyRequest, Extract<Authentication, { kind: "admitted" }>>;
  readonly bodyChecks: BodyChecks;
}

/** Authenticates the sender before the body is read; a rejected sender is answered here. */
async function authenticateRequest(request: FastifyRequest, reply: FastifyReply, route: SignalRoute, deps: SignalDeps) {
  const authentication = await authenticate(request, route, deps);
  if (authentication.kind === "refused") {
    const { status, reason, detail } = authentication;
    deps.gateway.metrics.rejected(reason);
    if (status === 401) reply.header("www-authenticate", "Bearer");
    return sendProblem(reply, status, detail);
  }
  deps.admitted.set(request, authentication);
  if (authentication.checkBody) deps.bodyChecks.set(request, authentication.checkBody);
}

async function handleSignals(request: FastifyRequest, reply: FastifyReply, deps: SignalDeps) {
  const { gateway, clock, rate } = deps;
  const admitted = deps.admitted.get(request);
  if (!admitted) throw new TypeError("the request was not authenticated");
  // A request without a body is not parsed, so its signature was not checked.
  if (deps.bodyChecks.has(request)) return sendProblem(reply, 401, details[401] ?? "");
  const { sender, route } = admitted;
  const { reader, retries429 } = route;
  const dryRun = readDryRun(request);
  if (dryRun === "invalid") return sendProblem(reply, 400, "dryRun is true or false.");
  const maxSignals = Math.min(deps.limits.signalsPerRequest, dryRun ? maxDryRunSignals : Number.POSITIVE_INFINITY);
  if (listLength(request.body) > maxSignals) return tooLarge(reply, maxSignals, gateway);
  const receivedAt = new Date(clock.wallMs()).toISOString();
  const reading = reader.read(request.body, receivedAt);
  if (reading.kind === "problems")
    return sendProblem(reply, 422, "The payload contains no valid signal.", reading.problems);
  // Groups and mappings may find more signals than the longest list of the body has entries.
  if (reading.readings.length > maxSignals) return tooLarge(reply, maxSignals, gateway);

  const attributed = attributeAll(reading, sender, deps.sourcesOf(reader.source));
  if (attributed.kind === "forbidden") {
    gateway.metrics.rejected("not-allowed");
    return sendProblem(reply, 403, "This token is not allowed to send signals of that source.", attributed.problems);
  }
  const tooMany = rate.take(sender.name, Math.max(1, reading.readings.length));
  if (tooMany) {
    gateway.metrics.rejected("too-many");
    const seconds = String(tooMany.waitSeconds);
    return sendProblem(reply.header("retry-after", seconds), retries429 ? 429 : 503, `Send again in ${seconds} s.`);
  }
  if (dryRun) return answerDryRun(reply, attributed, reader.explain(request.body, receivedAt), deps);
  return answer(reply, attributed, admitted, gateway);
}

/** A dry run explains each signal, which costs many times as much as to admit it. */
const maxDryRunSignals = 100;

function tooLarge(reply: FastifyReply, maxSignals: number, gateway: Gateway) {
  gateway.metrics.rejected("too-large");
  const instead = `Send at most ${maxSignals} signals in one such request (max_alerts of Alertmanager's receiver).`;
  return sendProblem(reply, 413, instead);
}

type Signals = Extract<PayloadReading, { kind: "signals" }>;
type Forbidden = { readonly kind: "forbidden"; readonly problems: readonly string[] };

/** The same signals with their effective sources. One signal of a source that is not allowed rejects the whole request. */
function attributeAll(reading: Signals, sender: Sender, route: RouteSources): Signals | Forbidden {
  const problems: string[] = [];
  const readings = reading.readings.map((one, i): SignalReading => {
    if (one.kind !== "signal") return one;
    const attribution = attributeSource(one.signal, sender, route);
    if (attribution.kind === "source") return withAttribution(one, attribution.source, sender.name);
    problems.push(`signals[${i}]: ${attribution.problem}`);
    return one;
  });
  return problems.length > 0 ? { kind: "forbidden", problems } : { ...reading, readings };
}

type ReadSignal = Extract<SignalReading, { kind: "signal" }>;

/** The same object for a reading that is repeated: what follows remembers what it found out about it. */
function withAttribution(reading: ReadSignal, source: string, sender: string): ReadSignal {
  const known = attributions.get(reading);
  if (known?.signal.source === source && known.signal.sender === sender) return known;
  const result: ReadSignal = { kind: "signal", signal: { ...reading.signal, source, sender } };
  attributions.set(reading, result);
  return result;
}

const attributions = new WeakMap<ReadSignal, ReadSignal>();

async function answer(
  reply: FastifyReply,
  reading: Signals,
  { sender, route }: Extract<Authentication, { kind: "admitted" }>,
  gateway: Gateway,
) {
  const { reader, retries429 } = route;
  if (reading.truncated > 0) gateway.truncated(reader.source, reading.truncated);
  const recordIgnored = (because: string) => gateway.ignore({ source: reader.source, sender: sender.name, because });
  const results = await toAnswers(gateway, reading.readings, recordIgnored);
  const code = statusCode(results, { retries429 });
  if (code === 422) {
    const problems = results.flatMap((result) => result.problems ?? []);
    return sendProblem(reply, code, "The payload contains no valid signal.", problems);
  }
  // Incidents are closed in minutes rather than seconds.
  const isLimited = results.some(({ status }) => status === "limited");
  if (code === 503 || code === 429) reply.header("retry-after", isLimited ? "30" : "2");
  return reply.code(code).send({ results, ...(reading.truncated > 0 ? { truncatedAlerts: reading.truncated } : {}) });
}

async function toAnswers(
  gateway: Gateway,
  readings: readonly SignalReading[],
  recordIgnored: (because: string) => Promise<void>,
): Promise<readonly SignalAnswer[]> {
  const signals: Signal[] = [];
  for (const reading of readings) if (reading.kind === "signal") signals.push(reading.signal);
  const admissions = await gateway.admitAll(signals);
  let next = 0;
  const answers: SignalAnswer[] = [];
  for (const reading of readings) {
    if (reading.kind === "problems") answers.push(toUnreadableAnswer(reading.problems));
    else if (reading.kind === "ignored") {
      const { because } = reading;
      answers.push(await recordIgnored(because).then(() => toInvalidAnswer(because), toFailureAnswer));
    } else {
      const admission = admissions[next++] as Admission | NotAdmitted;
      answers.push(admission.kind === "failed" ? toFailureAnswer(admission.error) : toAnswer(admission));
    }
  }
  return answers;
}

/** Answers what each signal would cause, and changes nothing. */
async function answerDryRun(
  reply: FastifyReply,
  { readings, truncated }: Signals,
  traces: ReturnType<SignalReader["explain"]>,
  { gateway, clock }: SignalDeps,
) {
  const preview = async (signal: Signal) => toDryRunAnswer(await gateway.preview(signal));
  const results: SignalAnswer[] = [];
  await sliceSignals(readings, clock, async (slice) => {
    results.push(...(await Promise.all(slice.map((one) => previewReading(one, preview)))));
  });
  const isRetry = results.some(({ status }) => status === "retry");
  if (isRetry) reply.header("retry-after", "2");
  const more = truncated > 0 ? { truncatedAlerts: truncated } : {};
  const explained = results.map((result, i) => ({ ...result, mapping: traces[i] ?? [] }));
  return reply.code(isRetry ? 503 : 200).send({ dryRun: true, results: explained, ...more });
}

/** Any other value is refused: a caller that means a dry run must not change anything. */
function readDryRun({ query }: FastifyRequest): boolean | "invalid" {
  const { dryRun = "false" } = query as { readonly dryRun?: unknown };
  return dryRun === "true" || (dryRun === "false" ? false : "invalid");
}

async function previewReading(
  reading: SignalReading,
  preview: (signal: Signal) => Promise<SignalAnswer>,
): Promise<SignalAnswer> {
  if (reading.kind === "problems") return toUnreadableAnswer(reading.problems);
  if (reading.kind === "ignored") return toInvalidAnswer(reading.because);
  try {
    return await preview(reading.signal);
  } catch (error) {
    return toFailureAnswer(error);
  }
}

function toFailureAnswer(error: unknown): SignalAnswer {
  if (error instanceof GatewayError && (error.code === "sender-limit" || error.code === "total-limit")) {
    return toLimitedAnswer(error);
  }
  if (isOutage(error)) return retry;
  throw error;
}

/** How many entries the longest list of a body has: each may be a signal, and reading them all takes time. */
function listLength(body: unknown): number {
  if (Array.isArray(body)) return body.length;
  if (typeof body !== "object" || body === null) return 0;
  return Object.values(body).reduce((most, part) => Math.max(most, Array.isArray(part) ? part.length : 0), 0);
}
