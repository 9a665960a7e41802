import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIP } from "node:net";
import type { Random } from "../time/index.ts";

export interface SelfSigned {
  /** PEM. It is its own authority: clients trust it directly. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

/** Object identifiers in DER. */
const oid = {
  /** 1.2.840.10045.4.3.2 */
  ecdsaWithSha256: "2a8648ce3d040302",
  /** 2.5.4.3 */
  commonName: "550403",
  /** 2.5.29.19 */
  basicConstraints: "551d13",
  /** 2.5.29.17 */
  subjectAltName: "551d11",
};

const lifetimeMs = 10 * 365 * 24 * 3_600_000;

/**
 * A certificate for a server without a certificate authority. kubectl sends a token over TLS alone, so an API server on
 * loopback needs it too. `hosts` are the names and addresses it may be reached by.
 */
export function selfSigned(hosts: readonly string[], wallMs: number, random: Random): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(objectId(oid.commonName), utf8("interlock"))));
  const toBeSigned = sequence(
    addTag(0, integer([2])),
    integer([1, ...Buffer.from(random.id(), "latin1")]),
    sequence(objectId(oid.ecdsaWithSha256)),
    name,
    // A client whose clock is behind must not find a certificate from the future.
    sequence(time(wallMs - 24 * 3_600_000), time(wallMs + lifetimeMs)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    addTag(
      3,
      sequence(extension(oid.basicConstraints, sequence(bool(true))), extension(oid.subjectAltName, names(hosts))),
    ),
  );
  return {
    certificate: pem(signCertificate(toBeSigned, privateKey)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

function signCertificate(toBeSigned: Buffer, key: KeyObject): Buffer {
  const signature = sign("sha256", toBeSigned, key);
  return sequence(toBeSigned, sequence(objectId(oid.ecdsaWithSha256)), der(0x03, Buffer.from([0]), signature));
}

function names(hosts: readonly string[]): Buffer {
  return sequence(...hosts.map((host) => (isIP(host) ? der(0x87, address(host)) : der(0x82, Buffer.from(host)))));
}

function address(ip: string): Buffer {
  if (isIP(ip) === 4) return Buffer.from(ip.split(".").map(Number));
  const [head = "", tail = ""] = ip.split("::");
  const words = (part: string) => (part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16)));
  const [first, last] = [words(head), words(tail)];
  const all = ip.includes("::") ? [...first, ...Array(8 - first.length - last.length).fill(0), ...last] : first;
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), der(0x04, value));
}

/** DER: tag, length, content. */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = body.length.toString(16);
  const bytes = Buffer.from(size.length % 2 ? `0${size}` : size, "hex");
  const length = body.length < 0x80 ? Buffer.from([body.length]) : Buffer.from([0x80 | bytes.length, ...bytes]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
}

function sequence(...items: readonly Buffer[]): Buffer {
  return der(0x30, ...items);
}

function set(...items: readonly Buffer[]): Buffer {
  return der(0x31, ...items);
}

function addTag(number: number, item: Buffer): Buffer {
  return der(0xa0 | number, item);
}

function integer(bytes: readonly number[]): Buffer {
  return der(0x02, Buffer.from(bytes));
}

function bool(value: boolean): Buffer {
  return der(0x01, Buffer.from([value ? 0xff : 0]));
}

function utf8(text: string): Buffer {
  return der(0x0c, Buffer.from(text));
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  return der(0x18, Buffer.from(text));
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
