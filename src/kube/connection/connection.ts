import { currentText } from "../../disk/index.ts";
import type { Clock } from "../../time/index.ts";
import { KubeError } from "../client.ts";

/** The address of an API server, and our credentials for it. */
export interface Connection {
  /** `https://10.0.0.1:6443`, with a path if the server is behind a proxy. Never with a password. */
  readonly url: string;
  /** PEM: the authorities for the server's certificate. Default: those that Node trusts. */
  readonly ca?: string | undefined;
  /** The name in the server's certificate, if it is not the host of the url. */
  readonly serverName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly credentials?: Credentials | CredentialSource;
  /** The default namespace of the kubeconfig's context, or of this pod. */
  readonly namespace?: string | undefined;
}

export interface Credentials {
  readonly token?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  /** PEM: a client certificate and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly impersonate?: { readonly user: string; readonly uid?: string; readonly groups?: readonly string[] };
}

/** Credentials that change. Called before every request. */
export type CredentialSource = (request: CredentialRequest) => Promise<Credentials>;

export interface CredentialRequest {
  readonly clock: Clock;
  /** The credentials that the server has just refused (401): different ones are needed. */
  readonly refused?: Credentials | undefined;
}

/** The headers of `credentials`. A client certificate is part of the TLS connection instead. */
export function credentialHeaders({ token, basic, impersonate }: Credentials): Record<string, string | string[]> {
  const { user, uid, groups } = impersonate ?? {};
  return {
    ...(token ? { Authorization: `Bearer ${token}` } : basic ? { Authorization: `Basic ${encode(basic)}` } : {}),
    ...(user ? { "Impersonate-User": user } : {}),
    ...(uid ? { "Impersonate-Uid": uid } : {}),
    ...(groups?.length ? { "Impersonate-Group": [...groups] } : {}),
  };
}

function encode({ username, password }: { username: string; password: string }): string {
  return Buffer.from(`${username}:${password}`).toString("base64");
}

/** The same API server, with another user impersonated: that user's rights apply. Needs the permission to impersonate. */
export function actAs(
  connection: Connection,
  { user, groups }: { readonly user: string; readonly groups: readonly string[] },
): Connection {
  const own = connection.credentials;
  const credentials: CredentialSource = async (request) => ({
    ...(typeof own === "function" ? await own(request) : own),
    impersonate: { user, groups },
  });
  return { ...connection, credentials };
}

/** The kubelet replaces a token long before it expires, so a copy of the last minute is valid. */
const freshForMs = 60_000;

/** A token in a file that another process rotates: read again every minute, and at once when the server refuses it. */
export function tokenFile(path: string, readFile: (path: string) => Promise<string>) {
  const current = currentText({ read: () => readFile(path), freshForMs });

  return async ({ clock, refused }: CredentialRequest): Promise<string> => {
    return await current({ now: clock.now(), refused: refused !== undefined }).catch((cause: unknown) => {
      throw new KubeError("unavailable", `the token file ${path} cannot be read`, { cause });
    });
  };
}

/** The error of a kubeconfig that cannot be used. */
export function invalidKubeconfig(problem: string, cause?: unknown): KubeError {
  return new KubeError("invalid", `kubeconfig: ${problem}`, { cause });
}
