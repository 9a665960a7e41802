import { connect } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { type SelfSigned, selfSigned } from "../../src/apiserver/self-signed.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";

export interface TlsFront {
  readonly url: string;
  readonly certificate: string;
  close(): Promise<void>;
}

/** TLS in front of a server on this machine that has none. `clients`: who must sign the certificates of callers. */
export async function tlsFront(port: number, clients?: SelfSigned): Promise<TlsFront> {
  const { certificate, key } = selfSigned(["127.0.0.1", "localhost"], systemClock().wallMs(), systemRandom());
  const open = new Set<TLSSocket>();
  const asking = clients ? { requestCert: true, rejectUnauthorized: true, ca: clients.certificate } : {};
  const server = createServer({ cert: certificate, key, ...asking }, (outside) => {
    const inside = connect(port, "127.0.0.1");
    open.add(outside.on("close", () => open.delete(outside)));
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as { port: number }).port}`,
    certificate,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
