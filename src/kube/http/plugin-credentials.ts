import type { RequestOptions } from "node:https";
import { KubeError } from "../client.ts";
import type { CredentialSource, Credentials } from "./connection.ts";

/** The library keeps credentials that say when they expire; for the others it would start the plugin for every call. */
const freshForMs = 60_000;

/** Credentials of a user whose kubeconfig names a plugin or a provider, through Kubernetes' own client library. */
export function pluginCredentials(kubeconfig: string, context: string): CredentialSource {
  let known: { readonly credentials: Promise<Credentials>; readonly askedAt: number } | undefined;

  return async ({ now, refused }) => {
    if (!known || refused || now - known.askedAt >= freshForMs) {
      const credentials = askLibrary(kubeconfig, context);
      known = { credentials, askedAt: now };
      credentials.catch(() => {
        if (known?.credentials === credentials) known = undefined;
      });
    }
    return known.credentials;
  };
}

async function askLibrary(kubeconfig: string, context: string): Promise<Credentials> {
  // Loading the library costs a second of CPU, and few need it.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const library = new KubeConfig();
  const options: RequestOptions = {};
  try {
    library.loadFromString(kubeconfig);
    library.setCurrentContext(context);
    await library.applyToHTTPSOptions(options);
  } catch {
    // The library's errors quote what the plugin printed, which may be the credential itself.
    const user = JSON.stringify(library.getContextObject(context)?.user);
    throw new KubeError("unavailable", `the plugin or provider of the kubeconfig user ${user} gives no credentials`);
  }
  return credentialsIn(options);
}

function credentialsIn({ headers, auth, cert, key }: RequestOptions): Credentials {
  const { Authorization: shown = "" } = (headers ?? {}) as { readonly Authorization?: string };
  const token = /^Bearer (.+)$/.exec(shown)?.[1];
  const [username = "", ...password] = (auth ?? "").split(":");
  return {
    ...(token ? { token } : {}),
    ...(auth ? { basic: { username, password: password.join(":") } } : {}),
    ...(cert && key ? { cert: String(cert), key: String(key) } : {}),
  };
}
