import { sign, verify } from "node:crypto";
import type { Head } from "../file/row.ts";
import { isWriterName } from "../file/writers.ts";
import type { SigningKey, TrustedKey } from "./keys.ts";

/** The heads of all chains at one moment. With these hashes every row up to them is fixed. */
export interface Checkpoint {
  readonly createdAt: string;
  /** The writer whose process made it, or a name for a command. */
  readonly createdBy: string;
  /** By writer. */
  readonly heads: Readonly<Record<string, Head>>;
}

export interface SignedCheckpoint extends Checkpoint {
  readonly keyId: string;
  /** Ed25519, in base64, of `signedText`. */
  readonly signature: string;
}

const format = "interlock-ledger-checkpoint/1";

/** The text of a checkpoint's file. */
export function signCheckpoint(checkpoint: Checkpoint, key: SigningKey): string {
  const text = signedText({ ...checkpoint, keyId: key.id });
  const signature = sign(null, Buffer.from(text), key.privateKey).toString("base64");
  return `${text.slice(0, -1)},"signature":${JSON.stringify(signature)}}\n`;
}

export type CheckpointReading =
  | { readonly kind: "checkpoint"; readonly checkpoint: SignedCheckpoint }
  | { readonly kind: "invalid"; readonly problem: string };

/** Reads a checkpoint's file and checks its signature with the key that it names, if that is one of `trusted`. */
export function readCheckpoint(text: string, trusted: readonly TrustedKey[]): CheckpointReading {
  const checkpoint = parseCheckpoint(text);
  if (!checkpoint) return { kind: "invalid", problem: "is not a checkpoint" };
  const key = trusted.find(({ id }) => id === checkpoint.keyId);
  if (!key) {
    const known = trusted.map(({ id }) => id).join(", ") || "none";
    return {
      kind: "invalid",
      problem: `is signed with key ${checkpoint.keyId}, which is not trusted (trusted: ${known})`,
    };
  }
  const signature = Buffer.from(checkpoint.signature, "base64");
  const isValid = verify(null, Buffer.from(signedText(checkpoint)), key.publicKey, signature);
  return isValid
    ? { kind: "checkpoint", checkpoint }
    : { kind: "invalid", problem: "was changed: its signature is wrong" };
}

/** Everything but the signature, in one spelling. */
function signedText({ createdAt, createdBy, heads, keyId }: Omit<SignedCheckpoint, "signature">): string {
  const sorted = Object.keys(heads).sort();
  const pairs = sorted.map((writer) => [writer, { seq: heads[writer]?.seq, hash: heads[writer]?.hash }]);
  return JSON.stringify({ format, createdAt, createdBy, heads: Object.fromEntries(pairs), keyId });
}

function parseCheckpoint(text: string): SignedCheckpoint | undefined {
  let data: Partial<SignedCheckpoint> & { readonly format?: unknown };
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof data !== "object" || data === null || data.format !== format) return undefined;
  const { createdAt, createdBy, heads, keyId, signature } = data;
  const areTexts = [createdAt, createdBy, keyId, signature].every((value) => typeof value === "string");
  if (!areTexts || Number.isNaN(Date.parse(createdAt ?? "")) || !areHeads(heads)) return undefined;
  return data as SignedCheckpoint;
}

function areHeads(heads: unknown): heads is Checkpoint["heads"] {
  if (typeof heads !== "object" || heads === null || Array.isArray(heads)) return false;
  return Object.entries(heads as Record<string, Partial<Head> | null>).every(
    ([writer, head]) =>
      isWriterName(writer) &&
      Number.isSafeInteger(head?.seq) &&
      Number(head?.seq) > 0 &&
      /^[0-9a-f]{64}$/.test(head?.hash ?? ""),
  );
}
