import { createSign, generateKeyPairSync, hash, type KeyObject, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface OidcClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUrl: string;
}

/** What the next ID token contains instead, to see that it is refused. */
export interface Forgery {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signed with a key that the provider does not publish. */
  readonly foreignKey?: true;
}

interface Grant {
  readonly challenge: string;
  readonly redirectUrl: string;
  readonly nonce: string;
}

/** An OpenID Connect provider that forgives nothing: every parameter that the specifications require has to be right. */
export class OidcServer {
  readonly url: string;
  /** The claims of the user at the provider. */
  user: Readonly<Record<string, unknown>> = {};
  forgery: Forgery = {};
  /** Paths whose requests fail: with this status, or without a response. */
  readonly outages = new Map<string, number | "no response">();
  readonly #grants = new Map<string, Grant>();
  readonly #keys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  readonly #foreignKeys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  readonly #client: () => OidcClient;
  readonly #server;

  private constructor(server: ReturnType<typeof createServer>, client: () => OidcClient) {
    this.#server = server;
    this.#client = client;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  /** The client may be known only later: its redirect URL has the port of the console. */
  static async start(client: () => OidcClient): Promise<OidcServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new OidcServer(server, client);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const json = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const outage = this.outages.get(url.pathname);
    if (outage === "no response") return void request.socket.destroy();
    if (outage !== undefined)
      return void response.writeHead(outage, { "content-type": "text/html" }).end("<h1>Down</h1>");
    switch (`${request.method} ${url.pathname}`) {
      case "GET /.well-known/openid-configuration":
        return void json(200, this.#metadata());
      case "GET /jwks":
        return void json(200, { keys: [publicJwk(this.#keys.publicKey)] });
      case "GET /authorize":
        return void this.#authorize(url.searchParams, response);
      case "POST /token": {
        const body = new URLSearchParams(await text(request));
        const problem = this.#tokenProblem(request, body);
        if (problem) return void json(problem === "invalid_client" ? 401 : 400, { error: problem });
        return void json(200, this.#tokens(body));
      }
      default:
        return void json(404, { error: "not_found" });
    }
  }

  #metadata() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    };
  }

  /** The user has logged in and consented: the browser goes back with a code. */
  #authorize(asked: URLSearchParams, response: ServerResponse): void {
    const { id, redirectUrl } = this.#client();
    const value = (name: string) => asked.get(name) ?? "";
    const problems = [
      value("client_id") === id ? "" : "client_id",
      value("redirect_uri") === redirectUrl ? "" : "redirect_uri",
      value("response_type") === "code" ? "" : "response_type",
      value("scope").split(" ").includes("openid") ? "" : "scope",
      value("code_challenge_method") === "S256" ? "" : "code_challenge_method",
      value("code_challenge").length === 43 ? "" : "code_challenge",
      value("state").length >= 16 ? "" : "state",
      value("nonce").length >= 16 ? "" : "nonce",
    ].filter(Boolean);
    if (problems.length > 0) return void response.writeHead(400).end(`invalid: ${problems.join(", ")}`);
    const code = randomBytes(16).toString("hex");
    this.#grants.set(code, { challenge: value("code_challenge"), redirectUrl, nonce: value("nonce") });
    const back = new URL(redirectUrl);
    back.searchParams.set("code", code);
    back.searchParams.set("state", value("state"));
    response.writeHead(302, { location: back.href }).end();
  }

  #tokenProblem(request: IncomingMessage, body: URLSearchParams): string | undefined {
    const { id, secret } = this.#client();
    if (request.headers["content-type"]?.split(";")[0] !== "application/x-www-form-urlencoded")
      return "invalid_request";
    if (body.get("client_id") !== id || body.get("client_secret") !== secret) return "invalid_client";
    if (body.get("grant_type") !== "authorization_code") return "unsupported_grant_type";
    const grant = this.#grants.get(body.get("code") ?? "");
    if (!grant || body.get("redirect_uri") !== grant.redirectUrl) return "invalid_grant";
    const challenge = hash("sha256", body.get("code_verifier") ?? "", "base64url");
    return challenge === grant.challenge ? undefined : "invalid_grant";
  }

  /** A code is good once. */
  #tokens(body: URLSearchParams) {
    const code = body.get("code") ?? "";
    const nonce = this.#grants.get(code)?.nonce;
    this.#grants.delete(code);
    const now = Math.floor(Date.now() / 1_000);
    const standard = { iss: this.url, aud: this.#client().id, sub: "4711", iat: now, exp: now + 300, nonce };
    const claims = { ...standard, ...this.user, ...this.forgery.claims };
    const { privateKey } = this.forgery.foreignKey ? this.#foreignKeys : this.#keys;
    return { access_token: "opaque", token_type: "Bearer", expires_in: 300, id_token: signed(claims, privateKey) };
  }
}

function publicJwk(key: KeyObject): object {
  return { ...key.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" };
}

function signed(claims: object, key: KeyObject): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const content = `${encode({ alg: "RS256", kid: "1", typ: "JWT" })}.${encode(claims)}`;
  return `${content}.${createSign("RSA-SHA256").update(content).sign(key, "base64url")}`;
}

async function text(request: IncomingMessage): Promise<string> {
  let all = "";
  for await (const chunk of request) all += chunk;
  return all;
}
