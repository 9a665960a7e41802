import type { Clock } from "../../time/index.ts";

/** The address of an API server, and the identity that we present to it. */
export interface Connection {
  /** `https://10.0.0.1:6443`, with a path where the server sits behind a proxy. Never with a password in it. */
  readonly url: string;
  /** PEM: the authorities that may sign the server's certificate. Without it, those that Node trusts. */
  readonly ca?: string;
  /** The name the server's certificate must carry, when it is not the host of the url. */
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly credentials?: Credentials | CredentialSource;
  /** The default namespace of the kubeconfig's context, or of this pod. */
  readonly namespace?: string;
}

export interface Credentials {
  readonly token?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  /** PEM: a client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
  readonly impersonate?: { readonly user: string; readonly uid?: string; readonly groups?: readonly string[] };
}

/** Credentials that change. Called before every request. */
export type CredentialSource = (request: CredentialRequest) => Promise<Credentials>;

export interface CredentialRequest {
  readonly clock: Clock;
  /** The credentials that the server has just refused (401): only others are of use. */
  readonly refused?: Credentials | undefined;
}

/** The headers that carry `credentials`. A client certificate belongs to the TLS connection instead. */
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
