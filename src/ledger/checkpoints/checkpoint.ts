import { sign, verify } from "node:crypto";
import { parseJson, type Wire, z } from "../../schema/index.ts";
import { isWriterName } from "../file/writers.ts";
import type { SigningKey, TrustedKey } from "./keys.ts";

const format = "interlock-ledger-checkpoint/1";

const head = z.object({ seq: z.int().positive(), hash: z.string().regex(/^[0-9a-f]{64}$/) });
const schema = z.object({
  format: z.literal(format),
  createdAt: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  /** The writer whose process made it, or a name for a command. */
  createdBy: z.string(),
  /** By writer. */
  heads: z.record(z.string().refine(isWriterName), head),
  keyId: z.string(),
  /** Ed25519, in base64, of `signedText`. */
  signature: z.string(),
});

type SignedCheckpoint = Omit<Wire<typeof schema>, "format">;

/** The heads of all chains at one moment. With these hashes every row up to them is fixed. */
export type Checkpoint = Omit<SignedCheckpoint, "keyId" | "signature">;

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
  const checkpoint = schema.safeParse(parseJson(text)).data;
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
