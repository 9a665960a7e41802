import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { PayloadReading, Signal, SignalReader, SignalReading } from "../../resources/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Admission, NotAdmitted } from "../admission.ts";
import { sliceSignals } from "../admitter.ts";
import type { Gateway } from "../gateway.ts";
import { attributeSource, type RouteSources } from "./attribute-source.ts";
import {
  type AuthenticateOptions,
  type Authentication,
  authenticate,
  type BodyCheck,
  type SignalRoute,
} from "./authenticate.ts";
import { type ReportRejection, sendProblem } from "./problems.ts";
import { RateLimit } from "./rate-limit.ts";
import {
  type SignalResult,
  sendResults,
  statusCode,
  toDryRunResult,
  toFailureResult,
  toIgnoredResult,
  toInvalidResult,
  toResult,
} from "./results.ts";
import type { Sender } from "./sender-lines.ts";
import type { Senders } from "./senders.ts";

export interface SignalRoutesOptions {
  readonly gateway: Gateway;
  readonly senders: Senders;
  /** The path of each source. */
  readonly routes: readonly SignalRoute[];
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly reportRejection: ReportRejection;
}

export interface ServerLimits {
  /** Of one request. */
  readonly bodyBytes: number;
  /** Of one sender. */
  readonly signalsPerSecond: number;
  /** In one request. */
  readonly signalsPerRequest: number;
}

/** The signature checks of requests whose body is not parsed yet. */
export type BodyChecks = WeakMap<FastifyRequest, BodyCheck>;

export const wrongSignature = "The signature does not match the body with any configured secret.";

/** Serves one route per source: authenticates the sender, reads its payload, admits its signals, and responds with the result of each. */
export function serveSignals(app: FastifyInstance, options: SignalRoutesOptions, bodyChecks: BodyChecks) {
  const { limits, clock } = options;
  const builtIn = listBuiltInSources(options.routes);
  const sourcesOf = (own: string) => ({ own, builtIn });
  const rate = new RateLimit(clock, limits.signalsPerSecond);
  const deps: SignalDeps = { ...options, rate, admitted: new WeakMap(), bodyChecks, sourcesOf };
  for (const route of options.routes) {
    app.route({
      method: "POST",
      url: route.path,
      // Before the body is read, so that an unauthenticated request costs little.
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

/** The sources that have a route or a watch of their own, so that no payload may name them. */
export function listBuiltInSources(routes: readonly Pick<SignalRoute, "reader">[]): ReadonlySet<string> {
  return new Set([...routes.map(({ reader }) => reader.source), ...watchedSources]);
}

/** Sources of the gateway's own watches, which have no route. */
const watchedSources = ["kubernetes-events", "kubernetes-nodes"];

interface SignalDeps extends AuthenticateOptions, Omit<SignalRoutesOptions, "senders" | "routes"> {
  readonly rate: RateLimit;
  readonly admitted: WeakMap<FastifyRequest, Extract<Authentication, { kind: "admitted" }>>;
  readonly bodyChecks: BodyChecks;
}

/** Authenticates the sender before the body is read, and responds to a rejected one. */
async function authenticateRequest(request: FastifyRequest, reply: FastifyReply, route: SignalRoute, deps: SignalDeps) {
  const authentication = await authenticate(request, route, deps);
  if (authentication.kind === "refused") {
    const { status, reason, detail } = authentication;
    deps.reportRejection(request, { source: route.reader.source, reason, detail });
    if (status === 401) reply.header("www-authenticate", "Bearer");
    return sendProblem(reply, status, detail);
  }
  deps.admitted.set(request, authentication);
  if (authentication.checkBody) deps.bodyChecks.set(request, authentication.checkBody);
}

async function handleSignals(request: FastifyRequest, reply: FastifyReply, deps: SignalDeps) {
  const { gateway, rate } = deps;
  const admitted = deps.admitted.get(request);
  if (!admitted) throw new TypeError("the request was not authenticated");
  // A request without a body is not parsed, so its signature was not checked.
  if (deps.bodyChecks.has(request)) {
    const { source } = admitted.route.reader;
    deps.reportRejection(request, { source, reason: "unknown-token", detail: wrongSignature });
    return sendProblem(reply, 401, wrongSignature);
  }
  const { sender, route } = admitted;
  const { reader, retries429 } = route;
  const { body } = request;
  // Frees the parsed body while the request waits for the disk: repeated alerts do not need it.
  request.body = undefined;
  const dryRun = readDryRun(request);
  if (dryRun === "invalid") return sendProblem(reply, 400, "dryRun is true or false.");
  const maxSignals = Math.min(deps.limits.signalsPerRequest, dryRun ? maxDryRunSignals : Number.POSITIVE_INFINITY);
  if (listLength(body) > maxSignals) return tooLarge(reply, maxSignals, gateway);
  const receivedAt = gateway.now();
  const reading = reader.read(body, receivedAt);
  if (reading.kind === "problems")
    return sendProblem(reply, 422, "The payload contains no valid signal.", reading.problems);
  // Groups and mappings may find more signals than the longest list of the body has entries.
  if (reading.readings.length > maxSignals) return tooLarge(reply, maxSignals, gateway);

  const attributed = attributeAll(reading, sender, deps.sourcesOf(reader.source));
  if (attributed.kind === "forbidden") {
    const detail = "This token is not allowed to send signals of that source.";
    deps.reportRejection(request, { source: reader.source, reason: "not-allowed", detail });
    return sendProblem(reply, 403, detail, attributed.problems);
  }
  // Tests of rules use a sender's token, but none of what its alerts may use. No name has a space.
  const bucket = dryRun ? `${sender.name} (dry run)` : sender.name;
  const tooMany = rate.take(bucket, Math.max(1, reading.readings.length));
  if (tooMany) {
    gateway.metrics.rejected("too-many");
    const seconds = String(tooMany.waitSeconds);
    return sendProblem(reply.header("retry-after", seconds), retries429 ? 429 : 503, `Send again in ${seconds} s.`);
  }
  if (dryRun) return sendDryRun(reply, attributed, reader.explain(body, receivedAt), deps);
  return admitSignals(reply, attributed, admitted, gateway);
}

/** To explain a signal costs many times as much as to admit it. */
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

/** Returns the same object for a repeated reading, because later steps cache their results by this object. */
function withAttribution(reading: ReadSignal, source: string, sender: string): ReadSignal {
  const known = attributions.get(reading);
  if (known?.signal.source === source && known.signal.sender === sender) return known;
  const result: ReadSignal = { kind: "signal", signal: { ...reading.signal, source, sender } };
  attributions.set(reading, result);
  return result;
}

const attributions = new WeakMap<ReadSignal, ReadSignal>();

async function admitSignals(
  reply: FastifyReply,
  reading: Signals,
  { sender, route }: Extract<Authentication, { kind: "admitted" }>,
  gateway: Gateway,
) {
  const { reader, retries429 } = route;
  if (reading.truncated > 0) gateway.truncated(reader.source, reading.truncated);
  const recordIgnored = (because: string) => gateway.ignore({ source: reader.source, sender: sender.name, because });
  const results = await admitAll(gateway, reading.readings, recordIgnored);
  const code = statusCode(results, { retries429 });
  if (code === 422) {
    const problems = results.flatMap((result) => result.problems ?? []);
    return sendProblem(reply, code, "The payload contains no valid signal.", problems);
  }
  // Incidents are closed in minutes rather than seconds.
  const isLimited = results.some(({ status }) => status === "limited");
  if (code === 503 || code === 429) reply.header("retry-after", isLimited ? "30" : "2");
  return sendResults(reply.code(code), results, reading.truncated);
}

async function admitAll(
  gateway: Gateway,
  readings: readonly SignalReading[],
  recordIgnored: (because: string) => Promise<void>,
): Promise<readonly SignalResult[]> {
  const signals: Signal[] = [];
  for (const reading of readings) if (reading.kind === "signal") signals.push(reading.signal);
  const admissions = (await gateway.admitAll(signals)).values();
  const results: SignalResult[] = [];
  for (const reading of readings) {
    if (reading.kind === "problems") results.push(toInvalidResult(reading.problems));
    else if (reading.kind === "ignored") {
      const { because } = reading;
      results.push(await recordIgnored(because).then(() => toIgnoredResult(because), toFailureResult));
    } else {
      const admission = admissions.next().value as Admission | NotAdmitted;
      results.push(admission.kind === "failed" ? toFailureResult(admission.error) : toResult(admission));
    }
  }
  return results;
}

/** Responds with the effect of each signal, and changes nothing. */
async function sendDryRun(
  reply: FastifyReply,
  { readings, truncated }: Signals,
  traces: ReturnType<SignalReader["explain"]>,
  { gateway, clock }: SignalDeps,
) {
  const results: SignalResult[] = [];
  await sliceSignals(readings, clock, async (slice) => {
    results.push(...(await Promise.all(slice.map((reading) => previewReading(reading, gateway)))));
  });
  const isRetry = results.some(({ status }) => status === "retry");
  if (isRetry) reply.header("retry-after", "2");
  const more = truncated > 0 ? { truncatedAlerts: truncated } : {};
  const explained = results.map((result, i) => ({ ...result, mapping: traces[i] ?? [] }));
  return reply.code(isRetry ? 503 : 200).send({ dryRun: true, results: explained, ...more });
}

async function previewReading(reading: SignalReading, gateway: Gateway): Promise<SignalResult> {
  if (reading.kind === "problems") return toInvalidResult(reading.problems);
  if (reading.kind === "ignored") return toIgnoredResult(reading.because);
  return gateway.preview(reading.signal).then(toDryRunResult, toFailureResult);
}

/** Any other value is rejected, so that an intended dry run never changes anything. */
function readDryRun({ query }: FastifyRequest): boolean | "invalid" {
  const { dryRun = "false" } = query as { readonly dryRun?: unknown };
  return dryRun === "true" || (dryRun === "false" ? false : "invalid");
}

/** The length of the longest list in a body: each entry may be a signal, and reading all of them takes time. */
function listLength(body: unknown): number {
  if (Array.isArray(body)) return body.length;
  if (typeof body !== "object" || body === null) return 0;
  return Object.values(body).reduce((max, part) => Math.max(max, Array.isArray(part) ? part.length : 0), 0);
}
