/** Waits for a server to listen; an address that cannot be had becomes an error that says what to change. */
export async function listening<T>(
  setting: string,
  { host, port }: { readonly host: string; readonly port: number },
  server: Promise<T>,
): Promise<T> {
  try {
    return await server;
  } catch (error) {
    const because = reasons[(error as NodeJS.ErrnoException).code ?? ""];
    if (!because) throw error;
    throw new Error(`${host}:${port} ${because}: give another address with ${setting}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken by another process (is Interlock running already?)",
  EACCES: "may not be listened on by this user",
  EADDRNOTAVAIL: "is no address of this machine",
};
