import { KubeError } from "../client.ts";
import { type Connection, tokenFile } from "./connection.ts";

const folder = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface InClusterOptions {
  readonly readFile: (path: string) => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The API server of the cluster this pod runs in, as its service account. */
export async function inCluster({ readFile, env }: InClusterOptions): Promise<Connection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    const missing = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set";
    throw new KubeError("invalid", `${missing}: this process does not run in a pod`);
  }
  const token = tokenFile(`${folder}/token`, readFile);
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    ca: await readMounted(`${folder}/ca.crt`, readFile),
    namespace: (await readMounted(`${folder}/namespace`, readFile)).trim(),
    credentials: async (request) => ({ token: await token(request) }),
  };
}

async function readMounted(path: string, readFile: InClusterOptions["readFile"]): Promise<string> {
  try {
    return await readFile(path);
  } catch (cause) {
    const hint = "is automountServiceAccountToken off?";
    throw new KubeError("invalid", `${path} cannot be read: ${hint}`, { cause });
  }
}
