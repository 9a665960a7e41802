import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  type IDToken,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { z } from "../../schema/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import { type NewSession, type OidcLogin, ProviderUnavailable } from "./identity.ts";
import type { ClusterUser } from "./review-token.ts";
import { readSignedValue, signValue } from "./session.ts";

export interface OidcOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret?: string | undefined;
  readonly scopes: readonly string[];
  readonly claims: ClaimNames;
  /** Where the provider sends the browser back to. */
  readonly redirectUrl: string;
  /** Signs the pending log-in, which the browser keeps. */
  readonly key: string;
  readonly beginSession: (user: ClusterUser) => Promise<NewSession | undefined>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The claims that name a user, as the settings of the API server do. */
export interface ClaimNames {
  readonly username: string;
  readonly usernamePrefix?: string | undefined;
  readonly groups: string;
  readonly groupsPrefix?: string | undefined;
}

const pendingSchema = z.object({ verifier: z.string(), state: z.string(), nonce: z.string(), expiresAtMs: z.number() });
const purpose = "log-in";
const pendingMs = 10 * 60_000;
/** Of one request to the provider. */
const timeoutSeconds = 10;

/** Logs in at an OpenID Connect provider: authorization code with PKCE, state and nonce. */
export function oidcLogin(options: OidcOptions): OidcLogin {
  const { redirectUrl, scopes, key, clock, log } = options;
  const configuration = discoverOnce(options);

  return {
    async start() {
      const provider = await configuration();
      const [verifier, state, nonce] = [randomPKCECodeVerifier(), randomState(), randomNonce()];
      const url = buildAuthorizationUrl(provider, {
        redirect_uri: redirectUrl,
        scope: scopes.join(" "),
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      const pending = { verifier, state, nonce, expiresAtMs: clock.wallMs() + pendingMs };
      return { url: url.href, pending: signValue(pending, purpose, key) };
    },

    async finish({ search }, value) {
      const pending = pendingSchema.safeParse(readSignedValue(value, purpose, key)).data;
      if (!pending || pending.expiresAtMs <= clock.wallMs()) return undefined;
      const provider = await configuration();
      const claims = await exchange(provider, new URL(search, redirectUrl), pending, log);
      const user = claims && userFrom(claims, options.claims);
      return user && options.beginSession(user);
    },
  };
}

/** The claims of the ID token; undefined if the provider refused, or if its response is not valid. */
async function exchange(
  provider: Configuration,
  callback: URL,
  { verifier, state, nonce }: z.output<typeof pendingSchema>,
  log: Logger,
): Promise<IDToken | undefined> {
  try {
    const tokens = await authorizationCodeGrant(provider, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    return tokens.claims();
  } catch (error) {
    if (isOutage(error)) throw toUnavailable(error);
    const isRefusal = [AuthorizationResponseError, ResponseBodyError, ClientError].some(
      (kind) => error instanceof kind,
    );
    if (!isRefusal) throw error;
    // The error itself may contain the code or a token.
    log.warn("identity provider log-in refused", { code: (error as { readonly code?: string }).code });
    return undefined;
  }
}

/** Whether the provider did not respond in time, or failed itself. Any other response is its refusal. */
function isOutage(error: unknown): boolean {
  const { code, status, cause } = error as {
    readonly code?: string;
    readonly status?: number;
    readonly cause?: unknown;
  };
  // The error of a request without a response. Its cause names the reason.
  if (error instanceof TypeError) return cause !== undefined;
  const responded = cause instanceof Response ? cause.status : (status ?? 0);
  return code === "OAUTH_TIMEOUT" || responded === 429 || responded >= 500;
}

function toUnavailable(error: unknown): ProviderUnavailable {
  const { code, cause } = error as { readonly code?: string; readonly cause?: { readonly code?: string } };
  return new ProviderUnavailable(`the identity provider does not respond (${cause?.code ?? code ?? "no reason"})`);
}

/**
 * The user of these claims; undefined if they name none, an e-mail address that the provider has not verified, or a user or group of
 * the API server's own: many providers let users choose their names, and `system:serviceaccount:…` would be that account.
 */
export function userFrom(claims: Readonly<Record<string, unknown>>, names: ClaimNames): ClusterUser | undefined {
  const name = claims[names.username];
  if (typeof name !== "string" || name === "") return undefined;
  if (names.username === "email" && claims["email_verified"] === false) return undefined;
  const listed = claims[names.groups];
  const texts = (Array.isArray(listed) ? listed : [listed]).filter((one) => typeof one === "string");
  const user = `${names.usernamePrefix ?? ""}${name}`;
  const groups = texts.map((group) => `${names.groupsPrefix ?? ""}${group}`);
  if ([user, ...groups].some((one) => one.startsWith("system:"))) return undefined;
  return { name: user, groups: [...groups, "system:authenticated"] };
}

/** Discovers the provider's endpoints with the first log-in, and again after a failure: the console starts without it. */
function discoverOnce({ issuer, clientId, clientSecret }: OidcOptions): () => Promise<Configuration> {
  let known: Promise<Configuration> | undefined;
  const url = new URL(issuer);
  const isPlain = url.protocol === "http:";
  if (isPlain && !["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)) {
    throw new TypeError(`console.oidc.issuer ${issuer} must begin with https: a listener could read the client secret`);
  }
  // The signature of the ID token is checked, although it comes from the provider itself.
  const execute = [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])];
  return async () => {
    known ??= discovery(url, clientId, clientSecret, undefined, { execute, timeout: timeoutSeconds });
    try {
      return await known;
    } catch (error) {
      known = undefined;
      throw toUnavailable(error);
    }
  };
}
