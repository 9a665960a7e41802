import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { createDurably } from "../../disk/index.ts";

/** A public key that checkpoints may be signed with. */
export interface TrustedKey {
  /** The first 16 hexadecimal digits of the SHA-256 of the key (SPKI, DER). */
  readonly id: string;
  readonly publicKey: KeyObject;
}

export interface SigningKey extends TrustedKey {
  readonly privateKey: KeyObject;
}

/** A key cannot be used. The message never contains the key. */
class KeyError extends Error {
  override readonly name = "KeyError";
}

/** The private key in a PEM text. `source` names it in errors. */
export function parseSigningKey(pem: string, source: string): SigningKey {
  const privateKey = attempt(() => createPrivateKey(pem), `${source} has no private key in PEM`);
  return { privateKey, ...toTrustedKey(createPublicKey(privateKey), source) };
}

/** The public keys in a text, one PEM block after the other: the current one, and those before it. */
export function parseTrustedKeys(text: string, source: string): readonly TrustedKey[] {
  // A private key would be accepted as a public one, and then be passed around with it.
  if (text.includes("PRIVATE KEY")) throw new KeyError(`${source} has a private key; give verifiers the public one`);
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  if (blocks.length === 0) throw new KeyError(`${source} has no public key in PEM`);
  return blocks.map((block) =>
    toTrustedKey(
      attempt(() => createPublicKey(block), `${source} has a public key that cannot be read`),
      source,
    ),
  );
}

/** Reads a private key from a file that no other user can read or replace. */
export async function readSigningKey(file: string): Promise<SigningKey> {
  await using handle = await open(file, "r").catch(unreadable(file));
  const { mode, uid } = await handle.stat();
  if ((mode & 0o077) !== 0) {
    throw new KeyError(
      `${file} can be read by other users (mode ${(mode & 0o777).toString(8)}); run: chmod 600 ${file}`,
    );
  }
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw new KeyError(`${file} belongs to another user (uid ${uid})`);
  return parseSigningKey(await handle.readFile("utf8"), file);
}

export async function readTrustedKeys(file: string): Promise<readonly TrustedKey[]> {
  return parseTrustedKeys(await readFile(file, "utf8").catch(unreadable(file)), file);
}

/** Makes a key pair: the private key in `file`, the public one in `file`.pub. Replaces nothing. */
export async function generateKeyFiles(file: string): Promise<TrustedKey> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  await createKeyFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  await createKeyFile(`${file}.pub`, publicKey.export({ type: "spki", format: "pem" }));
  return toTrustedKey(publicKey, file);
}

async function createKeyFile(file: string, pem: string | Buffer): Promise<void> {
  await createDurably(file, pem).catch((error: NodeJS.ErrnoException) => {
    throw new KeyError(error.code === "EEXIST" ? `${file} exists; name another file` : `${file}: ${error.message}`);
  });
}

function unreadable(file: string): (error: NodeJS.ErrnoException) => never {
  return ({ code }) => {
    throw new KeyError(`${file} cannot be read (${code})`);
  };
}

function toTrustedKey(publicKey: KeyObject, source: string): TrustedKey {
  if (publicKey.asymmetricKeyType !== "ed25519") {
    throw new KeyError(`${source} has a key of type ${publicKey.asymmetricKeyType}; Ed25519 is needed`);
  }
  return { id: hash("sha256", publicKey.export({ type: "spki", format: "der" })).slice(0, 16), publicKey };
}

function attempt(read: () => KeyObject, problem: string): KeyObject {
  try {
    return read();
  } catch {
    // The cause may quote the key.
    throw new KeyError(problem);
  }
}
