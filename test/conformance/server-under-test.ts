import { type ServedApi, type ServeOptions, serveApi } from "../../src/apiserver/http/serve.ts";
import type { ObjectStore } from "../../src/apiserver/object-store.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../doubles/volatile-store.ts";

export const tokens = { admin: "admin-token", readOnly: "reading-token" };

/** An embedded API server on a free port, with nothing in it. Without a certificate it accepts tokens over plain HTTP. */
export async function serverUnderTest(
  options: Pick<ServeOptions, "timeouts" | "tls" | "acceptPlainTokens"> = {},
): Promise<ServedApi & { readonly store: ObjectStore }> {
  const store = volatileStore();
  const acceptPlainTokens = options.tls === undefined;
  const parts = { store, clock: systemClock(), random: systemRandom(), tokens };
  const served = await serveApi({ ...parts, acceptPlainTokens, ...options });
  return { ...served, store };
}
