import { readFile } from "node:fs/promises";
import type { Clock } from "../../time/index.ts";
import type { CredentialSource, Credentials } from "./credentials.ts";

/** How this process authenticates to Microsoft Entra ID. The names are those of the variables that Azure sets. */
export interface EntraOptions {
  readonly clock: Clock;
  /** Of a user-assigned identity; the system-assigned one otherwise. */
  readonly clientId?: string | undefined;
  /** A workload identity (AKS): a token of the cluster is exchanged for one of the tenant. */
  readonly federatedTokenFile?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly authorityHost?: string | undefined;
  /** A managed identity of Container Apps or App Service. Without it, that of the virtual machine is used. */
  readonly identityEndpoint?: string | undefined;
  readonly identityHeader?: string | undefined;
}

const resource = "https://redis.azure.com";
const virtualMachine = "http://169.254.169.254/metadata/identity/oauth2/token";
const timeoutMs = 10_000;

/** Redis takes the object id of an identity as the name and its token as the password. */
export function entraCredentials(options: EntraOptions): CredentialSource {
  return async () => {
    const { access_token: token, expires_in, expires_on } = await requestToken(options);
    if (typeof token !== "string") throw new Error("the response has no access_token");
    const leftMs =
      expires_in === undefined ? Number(expires_on) * 1_000 - options.clock.wallMs() : Number(expires_in) * 1_000;
    if (!(leftMs > 0)) throw new Error("the response has no token lifetime");
    return { username: readObjectId(token), password: token, expiresInMs: leftMs } satisfies Credentials;
  };
}

interface TokenResponse {
  readonly access_token?: unknown;
  readonly expires_in?: unknown;
  readonly expires_on?: unknown;
}

function requestToken(options: EntraOptions): Promise<TokenResponse> {
  const { federatedTokenFile, identityEndpoint } = options;
  if (federatedTokenFile) return exchangeToken(federatedTokenFile, options);
  return identityEndpoint ? requestManagedToken(identityEndpoint, options) : requestMachineToken(options);
}

async function exchangeToken(file: string, options: EntraOptions): Promise<TokenResponse> {
  const { tenantId = "", clientId = "", authorityHost = "https://login.microsoftonline.com/" } = options;
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    scope: `${resource}/.default`,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    // Read each time: Kubernetes puts a new one there every hour.
    client_assertion: (await readFile(file, "utf8")).trim(),
  });
  return await fetchToken(
    new URL(`${tenantId}/oauth2/v2.0/token`, authorityHost),
    { method: "POST", body },
    options.clock,
  );
}

function requestManagedToken(
  endpoint: string,
  { clientId, identityHeader = "", clock }: EntraOptions,
): Promise<TokenResponse> {
  const url = withQuery(endpoint, { "api-version": "2019-08-01", resource, client_id: clientId });
  return fetchToken(url, { headers: { "x-identity-header": identityHeader } }, clock);
}

function requestMachineToken({ clientId, clock }: EntraOptions): Promise<TokenResponse> {
  const url = withQuery(virtualMachine, { "api-version": "2018-02-01", resource, client_id: clientId });
  return fetchToken(url, { headers: { metadata: "true" } }, clock);
}

function withQuery(base: string, query: Readonly<Record<string, string | undefined>>): URL {
  const url = new URL(base);
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
  return url;
}

async function fetchToken(url: URL, request: RequestInit, clock: Clock): Promise<TokenResponse> {
  const overdue = new AbortController();
  const timer = clock.after(timeoutMs, () => overdue.abort(), { background: true });
  try {
    const response = await fetch(url, { ...request, redirect: "error", signal: overdue.signal });
    // The body of a refusal may repeat our request.
    if (!response.ok) throw new Error(`${url.host} responded with ${response.status}`);
    return (await response.json()) as TokenResponse;
  } catch (error) {
    if (overdue.signal.aborted) throw new Error(`${url.host} does not respond`, { cause: error });
    throw error;
  } finally {
    timer.cancel();
  }
}

function readObjectId(token: string): string {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    const { oid } = claims as { readonly oid?: unknown };
    if (typeof oid === "string" && oid) return oid;
  } catch {
    // Reported below. The text of the error could repeat the token.
  }
  throw new Error("the token has no oid claim");
}
