import { readFile } from "node:fs/promises";
import { type Certificate, openCertificate } from "../http/index.ts";
import type { StageOptions } from "./stage.ts";

interface TlsFiles {
  readonly tlsCertFile: string | undefined;
  readonly tlsKeyFile: string | undefined;
}

/**
 * Opens the certificate of a server that the settings of `section` name. Returns undefined for plain HTTP. An invalid certificate
 * is an error at start, because no client could connect.
 */
export async function tlsCertificate(
  section: string,
  { tlsCertFile, tlsKeyFile }: TlsFiles,
  { clock, log }: Pick<StageOptions, "clock" | "log">,
): Promise<Certificate | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  const opening = openCertificate({
    read: async () => ({ cert: await readFile(tlsCertFile, "utf8"), key: await readFile(tlsKeyFile, "utf8") }),
    clock,
    problem: (problem) => log.warn("tls certificate not reloaded", { tlsCertFile, tlsKeyFile, problem }),
    changed: () => log.info("tls certificate reloaded", { tlsCertFile }),
  });
  return await opening.catch((error: unknown) => {
    const { message } = error as Error;
    throw new TypeError(`${section}.tlsCertFile ${tlsCertFile} and ${section}.tlsKeyFile ${tlsKeyFile}: ${message}`);
  });
}

/** Waits for a server to listen; an address that cannot be used becomes an error that names the setting. */
export async function awaitListening<T>(
  setting: string,
  { host, port }: { readonly host: string; readonly port: number },
  server: Promise<T>,
): Promise<T> {
  try {
    return await server;
  } catch (error) {
    const because = reasons[(error as NodeJS.ErrnoException).code ?? ""];
    if (!because) throw error;
    throw new Error(`${host}:${port} ${because}; set another address with ${setting}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use by another process (is Interlock running already?)",
  EACCES: "needs rights that this user does not have",
  EADDRNOTAVAIL: "is not an address of this machine",
};
