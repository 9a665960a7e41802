import { readFile as readFromDisk } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Connection, CredentialSource, Credentials } from "./connection.ts";
import { pluginCredentials } from "./plugin-credentials.ts";
import { invalid, readKubeconfig, type Section } from "./read-kubeconfig.ts";
import { tokenFile } from "./token-file.ts";

export type KubeconfigSource = ({ readonly path: string } | { readonly text: string }) & {
  /** The current context unless told otherwise. */
  readonly context?: string;
};

/**
 * The API server, and who we are, according to a kubeconfig. Tokens and certificates are read by us, token files again
 * and again; what needs a plugin (`exec`) or a provider (`oidc`) is left to Kubernetes' own client library.
 */
export async function fromKubeconfig(source: KubeconfigSource): Promise<Connection> {
  const text = "text" in source ? source.text : await fileOf("the file", source.path);
  const at = (path: string) => resolve("path" in source ? dirname(source.path) : ".", path);
  const { name, namespace, cluster, user } = readKubeconfig(text, source.context);
  if (cluster.has("proxy-url"))
    throw invalid("proxy-url is not supported: remove it, or use a server that can be reached");

  const ca = await inlineOrFile(cluster, "certificate-authority", at);
  const serverName = cluster.text("tls-server-name");
  const { url, basic } = addressOf(cluster.text("server") ?? "");
  return {
    url,
    credentials: await credentialsOf(user, basic, { text, name, at }),
    ...(ca ? { ca } : {}),
    ...(serverName ? { serverName } : {}),
    ...(cluster.flag("insecure-skip-tls-verify") ? { insecureSkipTlsVerify: true } : {}),
    ...(namespace ? { namespace } : {}),
  };
}

interface KubeconfigOrigin {
  readonly text: string;
  /** Of the context. */
  readonly name: string;
  /** Files are named relative to the kubeconfig. */
  readonly at: (path: string) => string;
}

/** Over plain HTTP kubectl shows no other credential than the password in the address, so some kubeconfigs have one. */
function addressOf(server: string) {
  const isAddress = URL.canParse(server) && /^https?:/i.test(server);
  if (!isAddress) throw invalid("the server of the cluster is not an http(s) URL");
  const url = new URL(server);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  Object.assign(url, { username: "", password: "" });
  return { url: url.href.replace(/\/$/, ""), basic: username ? { username, password } : undefined };
}

async function credentialsOf(
  user: Section,
  inAddress: Credentials["basic"],
  { text, name, at }: KubeconfigOrigin,
): Promise<Credentials | CredentialSource> {
  const impersonate = impersonationOf(user);
  if (user.has("exec") || user.has("auth-provider")) {
    const plugin = pluginCredentials(text, name);
    return async (moment) => ({ ...(await plugin(moment)), ...impersonate });
  }

  const cert = await inlineOrFile(user, "client-certificate", at);
  const key = await inlineOrFile(user, "client-key", at);
  const token = user.text("token");
  const basic = basicOf(user) ?? (token ? undefined : inAddress);
  const fixed: Credentials = {
    ...(token ? { token } : {}),
    ...(basic ? { basic } : {}),
    ...(cert && key ? { cert, key } : {}),
    ...impersonate,
  };
  const path = user.text("tokenFile");
  if (!path) return fixed;
  // Like kubectl: a file wins over a token that stands beside it.
  const current = tokenFile(at(path), (file) => readFromDisk(file, "utf8"));
  return async (moment) => ({ ...fixed, token: await current(moment) });
}

function basicOf(user: Section): Credentials["basic"] {
  const username = user.text("username");
  return username ? { username, password: user.text("password") ?? "" } : undefined;
}

function impersonationOf(user: Section): Pick<Credentials, "impersonate"> {
  // Left out silently, we would act with more power than asked for.
  if (user.has("as-user-extra")) throw invalid("as-user-extra is not supported");
  const [as, uid, groups] = [user.text("as"), user.text("as-uid"), user.texts("as-groups")];
  return as ? { impersonate: { user: as, ...(uid ? { uid } : {}), groups } } : {};
}

async function inlineOrFile(section: Section, name: string, at: (path: string) => string): Promise<string | undefined> {
  const inline = section.text(`${name}-data`);
  if (inline) return Buffer.from(inline, "base64").toString();
  const path = section.text(name);
  return path && fileOf(name, at(path));
}

async function fileOf(what: string, path: string): Promise<string> {
  try {
    return await readFromDisk(path, "utf8");
  } catch (cause) {
    throw invalid(`${what} ${path} cannot be read`, cause);
  }
}
