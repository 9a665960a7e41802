export interface KubeconfigOptions {
  readonly url: string;
  readonly token: string;
  /** The name of cluster, user and context. */
  readonly name?: string;
  readonly namespace?: string;
  /** PEM, for a server with a self-signed certificate. */
  readonly certificate?: string;
}

/** The text of a kubeconfig for an embedded server. JSON, which is valid YAML. */
export function kubeconfigFor({
  url,
  token,
  name = "interlock",
  namespace = "default",
  certificate,
}: KubeconfigOptions): string {
  // Over plain HTTP kubectl leaves out every credential but one, the password in the address of the server; and
  // @kubernetes/client-node refuses plain HTTP unless certificate verification is disabled.
  const server = new URL(url);
  const plain = server.protocol === "http:";
  if (plain) Object.assign(server, { username: name, password: encodeURIComponent(token) });
  const authority = certificate && { "certificate-authority-data": Buffer.from(certificate).toString("base64") };
  const trust = plain ? { "insecure-skip-tls-verify": true } : authority;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: server.href.replace(/\/$/, ""), ...trust } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
