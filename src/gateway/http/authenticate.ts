import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { SignalReader } from "../../resources/index.ts";
import type { RejectReason } from "../metrics.ts";
import { canPost, freeSource, type RouteSources } from "./attribute-source.ts";
import type { Sender } from "./sender-lines.ts";
import type { Senders } from "./senders.ts";

export interface AuthenticateOptions {
  readonly senders: Senders;
  readonly routes: readonly SignalRoute[];
  readonly sourcesOf: (own: string) => RouteSources;
}

export type Authentication =
  | {
      readonly kind: "admitted";
      readonly sender: Sender;
      /** The route whose reader and source apply. */
      readonly route: SignalRoute;
      /** Of a signed request: must accept the body before it is parsed. */
      readonly checkBody?: BodyCheck;
    }
  | { readonly kind: "refused"; readonly status: 401 | 403; readonly reason: RejectReason; readonly detail: string };

export type BodyCheck = (body: string) => boolean;

/** Finds the sender by the headers of a request, before its body is read, and checks that it may use the route. */
export async function authenticate(
  { headers }: Pick<FastifyRequest, "headers">,
  posted: SignalRoute,
  { senders, routes, sourcesOf }: AuthenticateOptions,
): Promise<Authentication> {
  const { source } = posted.reader;
  const checkBody = await signatureCheck(headers, posted);
  if (checkBody && headers.authorization === undefined) {
    return { kind: "admitted", sender: { name: source, sources: [source] }, route: posted, checkBody };
  }
  const token = /^Bearer +(\S{1,4096})$/i.exec(headers.authorization ?? "")?.[1];
  const sender = token === undefined ? undefined : await senders.find(token);
  if (!sender) {
    const reason = token === undefined ? "no-token" : "unknown-token";
    return {
      kind: "refused",
      status: 401,
      reason,
      detail: "Send a valid token: Authorization: Bearer TOKEN.",
    };
  }
  const route = routeFor(sender, posted, routes);
  if (!canPost(sender, sourcesOf(route.reader.source))) {
    const detail = `This token is for other sources. Use one that may send signals of ${route.reader.source}.`;
    return { kind: "refused", status: 403, reason: "not-allowed", detail };
  }
  // A request with both a token and a signature must pass both checks.
  return { kind: "admitted", sender, route, ...(checkBody ? { checkBody } : {}) };
}

async function signatureCheck(
  headers: FastifyRequest["headers"],
  { signature }: SignalRoute,
): Promise<BodyCheck | undefined> {
  const header = signature && headers[signature.header];
  if (!signature || typeof header !== "string") return undefined;
  const secrets = await signature.secrets();
  return secrets.length === 0 ? undefined : (body) => isSigned(body, header, secrets);
}

/** A token for one mapped source alone selects its mapping, also at the path of plain signals. */
function routeFor(sender: Sender, posted: SignalRoute, routes: readonly SignalRoute[]): SignalRoute {
  const [only, ...others] = sender.sources ?? [];
  if (posted.reader.source !== freeSource || others.length > 0) return posted;
  return routes.find(({ reader, isMapped }) => isMapped && reader.source === only) ?? posted;
}

/** Whether `header` has a signature of `body` by one of `secrets`. Compares all of them, in constant time. */
function isSigned(body: string, header: string, secrets: readonly string[]): boolean {
  const presented = header.split(",", maxSignatures).map((one) => one.trim());
  const expected = secrets.map((secret) => `v1=${createHmac("sha256", secret).update(body).digest("hex")}`);
  return presented.filter((signature) => isOneOf(signature, expected)).length > 0;
}

/** A sender signs with two secrets while one replaces the other. */
const maxSignatures = 8;

/** A path and the reader of its payloads. */
export interface SignalRoute {
  readonly path: string;
  readonly reader: SignalReader;
  /** Whether the sender retries after 429. Alertmanager does not, and gets 503 instead. */
  readonly retries429: boolean;
  /** Whether the reader uses a mapping of the installation's settings. */
  readonly isMapped?: boolean;
  /** With it, a request without a bearer token is accepted if its body is signed. */
  readonly signature?: SignedBody;
}

/** A sender that signs its requests: HMAC-SHA256 of the body in hexadecimal, `v1=…`, several separated by commas. */
export interface SignedBody {
  /** In lower case. */
  readonly header: string;
  /** The valid secrets, read for each request because they change. If empty, no signature is accepted. */
  readonly secrets: () => Promise<readonly string[]>;
}

/** Whether `text` is one of `secrets`. Compares hashes with all of them, so that the duration reveals nothing, not even a length. */
export function isOneOf(text: string, secrets: readonly string[]): boolean {
  const digest = sha256(text);
  return secrets.filter((secret) => timingSafeEqual(digest, sha256(secret))).length > 0;
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
