/** How to reach an API server, and as whom. */
export interface Connection {
  /** `https://10.0.0.1:6443`, with a path where the server sits behind a proxy. Never with a password in it. */
  readonly url: string;
  /** PEM: who vouches for the server. Without it, the authorities that Node knows. */
  readonly ca?: string;
  /** The name the server's certificate must carry, when it is not the host of the url. */
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly credentials?: Credentials | CredentialSource;
  /** Where the owner of the kubeconfig, or this pod, works unless told otherwise. */
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

/** Credentials that change. Asked before every request; `refused`: the server no longer takes what was given last. */
export type CredentialSource = (moment: {
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly refused: boolean;
}) => Promise<Credentials>;

/** The headers that show `credentials`. A client certificate is shown by the connection itself. */
export function credentialHeaders({ token, basic, impersonate }: Credentials): Record<string, string | string[]> {
  const { user, uid, groups } = impersonate ?? {};
  return {
    ...(token ? { Authorization: `Bearer ${token}` } : basic ? { Authorization: `Basic ${encoded(basic)}` } : {}),
    ...(user ? { "Impersonate-User": user } : {}),
    ...(uid ? { "Impersonate-Uid": uid } : {}),
    ...(groups?.length ? { "Impersonate-Group": [...groups] } : {}),
  };
}

function encoded({ username, password }: { username: string; password: string }): string {
  return Buffer.from(`${username}:${password}`).toString("base64");
}
