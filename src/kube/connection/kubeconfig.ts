import { readFile } from "node:fs/promises";
import {
  type Connection,
  type CredentialSource,
  type Credentials,
  invalidKubeconfig,
  tokenFile,
} from "./connection.ts";
import type { ExecCluster } from "./exec-plugin.ts";
import { readKubeconfig } from "./kubeconfig-files.ts";
import type { ChosenContext } from "./kubeconfig-schema.ts";

export interface KubeconfigOptions {
  /** One file, or several that are merged as kubectl merges those of `KUBECONFIG`. */
  readonly path: string | readonly string[];
  /** Default: the current context. */
  readonly context?: string | undefined;
  /** The environment that an exec plugin inherits. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

type ClusterSection = ChosenContext["cluster"];
type UserSection = ChosenContext["user"];

/** The API server and the credentials that a kubeconfig names. Token files are read again, and exec plugins run again. */
export async function fromKubeconfig({ path, context, env }: KubeconfigOptions): Promise<Connection> {
  const { namespace, cluster, user } = await readKubeconfig([path].flat(), context);
  const { server = "", "tls-server-name": serverName, "insecure-skip-tls-verify": insecure } = cluster.fields;
  if (cluster.fields["proxy-url"])
    throw invalidKubeconfig("proxy-url is not supported; remove it, or name a reachable server");

  const ca = await inlineOrFile(cluster, "certificate-authority");
  const { url, basic } = parseServer(server);
  return {
    url,
    credentials: await readCredentials(user, { basic, env, cluster: execCluster(cluster, url, ca) }),
    ca,
    serverName,
    insecureSkipTlsVerify: insecure || undefined,
    namespace,
  };
}

/** Over plain HTTP kubectl sends no other credential than the password in the address, so some kubeconfigs have one. */
function parseServer(server: string) {
  const isAddress = URL.canParse(server) && /^https?:/i.test(server);
  if (!isAddress) throw invalidKubeconfig("the server of the cluster is not an http(s) URL");
  const url = new URL(server);
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  Object.assign(url, { username: "", password: "" });
  return { url: url.href.replace(/\/$/, ""), basic: username ? { username, password } : undefined };
}

interface CredentialsContext {
  /** The password in the server's address. */
  readonly basic: Credentials["basic"];
  readonly env: KubeconfigOptions["env"];
  readonly cluster: ExecCluster;
}

async function readCredentials(
  user: UserSection,
  { basic: inAddress, env, cluster }: CredentialsContext,
): Promise<Credentials | CredentialSource> {
  const { token, tokenFile: path, exec, username, password = "" } = user.fields;
  if (user.fields["auth-provider"])
    throw invalidKubeconfig("auth-provider is not supported; use an exec plugin instead");
  const impersonate = readImpersonation(user);
  const cert = await inlineOrFile(user, "client-certificate");
  const key = await inlineOrFile(user, "client-key");
  const basic = username ? { username, password } : token ? undefined : inAddress;
  const fixed: Credentials = { token, basic, ...(cert && key ? { cert, key } : {}), ...impersonate };
  if (path) {
    // As in kubectl, a file wins over a token beside it.
    const current = tokenFile(user.resolve(path), (file) => readFile(file, "utf8"));
    return async (request) => ({ ...fixed, token: await current(request) });
  }
  if (!exec || token || basic) return fixed;
  const { execCredentials } = await import("./exec-plugin.ts");
  const plugin = execCredentials({ config: exec, user: user.name, resolve: user.resolve, cluster, env });
  return async (request) => ({ ...fixed, ...(await plugin(request)) });
}

function readImpersonation({ fields }: UserSection): Pick<Credentials, "impersonate"> {
  // Ignored silently, we would act with more rights than the kubeconfig grants.
  if (fields["as-user-extra"]) throw invalidKubeconfig("as-user-extra is not supported");
  const { as: user, "as-uid": uid, "as-groups": groups } = fields;
  return user ? { impersonate: { user, ...(uid ? { uid } : {}), groups: groups ?? [] } } : {};
}

/** The cluster as an exec plugin with `provideClusterInfo` receives it. */
function execCluster({ fields }: ClusterSection, server: string, ca: string | undefined): ExecCluster {
  const extension = fields.extensions?.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension;
  return {
    server,
    "tls-server-name": fields["tls-server-name"],
    "insecure-skip-tls-verify": fields["insecure-skip-tls-verify"] ?? undefined,
    "certificate-authority-data": ca && Buffer.from(ca).toString("base64"),
    "disable-compression": fields["disable-compression"] ?? undefined,
    config: extension,
  };
}

async function inlineOrFile<Name extends string>(
  {
    fields,
    resolve,
  }: { fields: { [key in Name | `${Name}-data`]?: string | undefined }; resolve(path: string): string },
  name: Name,
): Promise<string | undefined> {
  const inline = fields[`${name}-data`];
  if (inline) return Buffer.from(inline, "base64").toString();
  const named = fields[name];
  if (!named) return undefined;
  const path = resolve(named);
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw invalidKubeconfig(`${name} ${path} cannot be read`, cause);
  });
}
