import type { Connection, CredentialSource } from "./connection.ts";

/** The same API server, asked in the name of another user: it decides by that user's rights, if it lets us act as them. */
export function actAs(
  connection: Connection,
  { user, groups }: { readonly user: string; readonly groups: readonly string[] },
): Connection {
  const own = connection.credentials;
  const credentials: CredentialSource = async (request) => ({
    ...(typeof own === "function" ? await own(request) : own),
    impersonate: { user, groups },
  });
  return { ...connection, credentials };
}
