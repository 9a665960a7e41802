import type { KubeClient, PodLogs } from "../../kube/index.ts";
import type { OperationName, Role, RowKind } from "../wire.ts";

/** An authenticated caller. */
export interface Viewer {
  readonly name: string;
  readonly role: Role;
  readonly operations: readonly OperationName[];
  /** The kinds of rows that the caller may read. */
  readonly readableKinds: readonly RowKind[];
  /** Presented by the request: a session cookie, which a browser also sends without its user's will, or a bearer token. */
  readonly via: "session" | "token";
  /** Reads details and writes in the name of the caller. */
  readonly client: KubeClient;
  /** The output of containers that the caller may read; undefined if the API server has no kubelets. */
  readonly podLogs?: PodLogs;
}

/** The parts of a request that identify its caller. */
export interface CallerCredentials {
  readonly authorization: string | undefined;
  /** The value of the session cookie. */
  readonly session: string | undefined;
}

/** A new session: the cookie's value, and when it ends. */
export interface NewSession {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** Port: authenticates callers. Wrong or missing credentials are undefined; a backend that does not respond is an exception. */
export interface Identity {
  readonly mode: "embedded" | "cluster";
  authenticate(credentials: CallerCredentials): Promise<Viewer | undefined>;
  /** Exchanges a bearer token for a session. Undefined for a token that is not accepted. */
  logIn(token: string): Promise<NewSession | undefined>;
  /** Ends a session before it expires. */
  logOut(session: string): Promise<void>;
  /** Exchanges a one-time link for a session. Undefined for a link that is unknown, used or expired. */
  redeemLink?(token: string): Promise<NewSession | undefined>;
  readonly oidc?: OidcLogin;
}

/** The identity provider did not respond, or not as a provider does. The message contains no code and no token. */
export class ProviderUnavailable extends Error {
  override readonly name = "ProviderUnavailable";
}

/** Log-in at an identity provider by authorization code. Throws ProviderUnavailable. */
export interface OidcLogin {
  /** The URL of the provider, and a value that the browser keeps until it returns. */
  start(): Promise<{ readonly url: string; readonly pending: string }>;
  /** `callback`: the URL with which the browser returns. Undefined if the provider refused, or if the log-in is not the pending one. */
  finish(callback: URL, pending: string): Promise<NewSession | undefined>;
}

/** The bearer token of a request. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S{1,8192})$/i.exec(authorization ?? "")?.[1];
}
