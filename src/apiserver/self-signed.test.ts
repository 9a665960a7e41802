import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { systemRandom } from "../time/index.ts";
import { selfSigned } from "./self-signed.ts";

const hosts = ["127.0.0.1", "::1", "localhost", "2001:db8::7"];

describe("a self-signed certificate", () => {
  it("names every host, for ten years", () => {
    const { certificate } = selfSigned(hosts, Date.parse("2026-01-02T03:04:05Z"), systemRandom());

    const read = new X509Certificate(certificate);

    expect(read.subjectAltName).toBe(
      "IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:localhost, IP Address:2001:DB8:0:0:0:0:0:7",
    );
    expect(new Date(read.validFrom).toISOString()).toBe("2026-01-01T03:04:05.000Z");
    expect(new Date(read.validTo).getUTCFullYear()).toBe(2035);
    expect(read.verify(read.publicKey)).toBe(true);
  });

  it("is different each time", () => {
    const make = () => new X509Certificate(selfSigned(hosts, 0, systemRandom()).certificate);

    expect(make().serialNumber).not.toBe(make().serialNumber);
  });

  it.each(["127.0.0.1", "localhost"])("is accepted by a client that trusts it and connects to %s", async (host) => {
    const { certificate: cert, key } = selfSigned(hosts, Date.now(), systemRandom());
    const server = createServer({ cert, key }, (socket) => socket.end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;

    const client = connect({ port, host: "127.0.0.1", servername: host === "localhost" ? host : "", ca: cert });
    await once(client, "secureConnect");

    expect(client.authorized).toBe(true);
    client.destroy();
    server.close();
  });
});
