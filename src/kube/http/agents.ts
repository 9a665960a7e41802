import { Agent as PlainAgent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { KubeError } from "../client.ts";
import type { Connection, Credentials } from "../connection/connection.ts";

/**
 * We close idle connections before a server or a load balancer does: a write that is sent while the other side closes the
 * connection may or may not have happened.
 */
const idleMs = 30_000;
/** The interval of TCP keep-alive probes. */
const probeAfterMs = 15_000;

/** The pool of connections to one server. A new client certificate gets a new pool. */
export function connectionPool({ url, ca, serverName, insecureSkipTlsVerify }: Connection) {
  const settings = {
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
    timeout: idleMs,
    scheduling: "lifo",
  } as const;
  if (!url.startsWith("https:")) {
    const plain = new PlainAgent(settings);
    return () => plain;
  }

  let pool: ({ readonly agent: SecureAgent } & Pick<Credentials, "cert" | "key">) | undefined;
  return ({ cert, key }: Credentials) => {
    if (pool && pool.cert === cert && pool.key === key) return pool.agent;
    const agent = new SecureAgent({
      ...settings,
      // Shared, because parsing the certificates for each connection costs more than the handshake.
      secureContext: createContext({ ca, cert, key }),
      rejectUnauthorized: !insecureSkipTlsVerify,
      ...(serverName ? { servername: serverName } : {}),
    });
    pool = { agent, cert, key };
    return agent;
  };
}

function createContext(material: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(material);
  } catch (cause) {
    const what = "the authority, the client certificate or its key cannot be read as PEM, or do not belong together";
    throw new KubeError("invalid", what, { cause });
  }
}
