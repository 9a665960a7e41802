import { request } from "node:https";
import { type ConnectionOptions, connect } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { selfSigned } from "../../src/apiserver/self-signed.ts";
import { type KeyPair, openCertificate } from "../../src/http/certificate.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { type ServedGateway, servedGateway, token } from "./served-gateway.ts";

let gateway: ServedGateway | undefined;

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

describe("a gateway with a certificate", () => {
  it("admits signals over TLS 1.2 and 1.3", async () => {
    const { port, first } = await served();

    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const socket = await open(port, { ca: first.cert, minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    expect(await post(port, first.cert)).toMatchObject({ status: 201 });
  });

  it("refuses older versions of TLS, and plain HTTP", async () => {
    const { port, first } = await served();
    const old = {
      ca: first.cert,
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT@SECLEVEL=0",
    } as const;

    await expect(open(port, old)).rejects.toThrow();
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  });

  it("uses a new certificate for new connections, and keeps open ones", async () => {
    const { port, first, files, reload } = await served();
    const before = await open(port, { ca: first.cert });
    const next = pair();

    files.pair = next;
    await reload();

    await expect(open(port, { ca: first.cert })).rejects.toThrow();
    (await open(port, { ca: next.cert })).destroy();
    expect(await answerOn(before)).toContain("HTTP/1.1 200 OK");
  });

  it.each<[string, () => Partial<KeyPair> | undefined]>([
    ["is no PEM", () => ({ cert: "nonsense" })],
    ["does not go with its key", () => ({ cert: pair().cert })],
    ["cannot be read", () => undefined],
  ])("keeps its certificate, with one warning, if the new one %s", async (_what, change) => {
    const { port, first: good, files, reload, problems } = await served();
    const changed = change();

    files.pair = changed && { ...good, ...changed };
    await reload();
    await reload();

    (await open(port, { ca: good.cert })).destroy();
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain("PRIVATE KEY");

    const next = pair();
    files.pair = next;
    await reload();

    (await open(port, { ca: next.cert })).destroy();
  });

  it("does not start with a certificate that cannot be used", async () => {
    const read = async () => ({ cert: "nonsense", key: "nonsense" });

    await expect(openCertificate({ read, clock: systemClock(), problem() {}, changed() {} })).rejects.toThrow();
  });
});

describe("a pair of files that changes one after the other", () => {
  it("is read once more, without a warning", async () => {
    const [old, next] = [pair(), pair()];
    const problems: string[] = [];
    const readings = [old, { cert: next.cert, key: old.key }, next];
    const clock = new ManualClock();
    const certificate = await openCertificate({
      read: async () => readings.shift() ?? next,
      clock,
      problem: (problem) => problems.push(problem),
      changed() {},
    });
    const used: KeyPair[] = [];
    const stop = new AbortController();
    const following = certificate.follow((pair) => used.push(pair), stop.signal);

    await clock.advance(5_000);
    await settle();

    expect(used).toEqual([next]);
    expect(problems).toEqual([]);
    stop.abort();
    await following;
  });
});

interface Files {
  /** Undefined: they cannot be read. */
  pair: KeyPair | undefined;
}

async function served() {
  const first = pair();
  const files: Files = { pair: first };
  const clock = new ManualClock();
  const problems: string[] = [];
  const certificate = await openCertificate({
    async read() {
      if (!files.pair) throw new Error("ENOENT: no such file");
      return files.pair;
    },
    clock,
    problem: (problem) => problems.push(problem),
    changed() {},
  });
  gateway = await servedGateway({ certificate });
  async function reload() {
    await clock.advance(5_000);
    await settle();
  }
  return { first, files, problems, reload, port: Number(new URL(gateway.url).port) };
}

function pair(): KeyPair {
  const { certificate: cert, key } = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
  return { cert, key };
}

function open(port: number, options: ConnectionOptions) {
  return new Promise<ReturnType<typeof connect>>((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", ...options }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function answerOn(socket: ReturnType<typeof connect>): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once("data", (data) => {
      resolve(String(data));
      socket.destroy();
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed")));
    socket.write("GET /healthz HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n");
  });
}

function post(port: number, ca: string): Promise<{ readonly status: number | undefined }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const outgoing = request(
      { host: "127.0.0.1", port, path: "/api/v1/signals", method: "POST", ca, headers },
      (response) => {
        response.resume();
        resolve({ status: response.statusCode });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify({ name: "DiskFull", target: "node/worker-1" }));
  });
}
