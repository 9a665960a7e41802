import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chain } from "../database/ledger-database.contract.ts";
import { Chain, type ChainItem } from "../file/chain.ts";
import { noHash } from "../file/row.ts";
import { readCheckpoint, signCheckpoint } from "./checkpoint.ts";
import { generateKeyFiles, parseSigningKey, parseTrustedKeys, readSigningKey, readTrustedKeys } from "./keys.ts";
import { proveHead } from "./verify-checkpoint.ts";

const key = newKey();
const older = newKey();
const hash = "a".repeat(64);
const checkpoint = {
  createdAt: "2026-11-15T10:00:00.000Z",
  createdBy: "w-1",
  heads: { "w-2": { seq: 3, hash }, "w-1": { seq: 17, hash } },
};

describe("a signed checkpoint", () => {
  it("is read with the key that signed it", () => {
    const text = signCheckpoint(checkpoint, key);

    expect(readCheckpoint(text, [key])).toMatchObject({
      kind: "checkpoint",
      checkpoint: { ...checkpoint, keyId: key.id },
    });
  });

  it("of an older key counts as long as that key is trusted", () => {
    const text = signCheckpoint(checkpoint, older);

    expect(readCheckpoint(text, [key, older]).kind).toBe("checkpoint");
    expect(readCheckpoint(text, [key])).toMatchObject({ problem: expect.stringContaining("which is not trusted") });
  });

  it("may be written in another order or with spaces", () => {
    const { heads, ...rest } = JSON.parse(signCheckpoint(checkpoint, key));

    expect(readCheckpoint(JSON.stringify({ heads, ...rest }, null, 2), [key]).kind).toBe("checkpoint");
  });

  it.each<[string, (text: string) => string, string]>([
    ["another head", (text) => text.replace('"seq":17', '"seq":16'), "its signature is wrong"],
    ["another hash", (text) => text.replace("aaaa", "bbbb"), "its signature is wrong"],
    ["a writer less", (text) => text.replace(/,"w-2":\{[^}]*\}/, ""), "its signature is wrong"],
    ["another time", (text) => text.replace("T10:00", "T11:00"), "its signature is wrong"],
    ["another maker", (text) => text.replace('"createdBy":"w-1"', '"createdBy":"w-3"'), "its signature is wrong"],
    ["the id of another key", (text) => text.replace(key.id, older.id), "its signature is wrong"],
    ["no signature", (text) => text.replace(/,"signature":.*\}/, "}"), "is not a checkpoint"],
    ["an empty signature", (text) => text.replace(/"signature":"[^"]*"/, '"signature":""'), "its signature is wrong"],
    ["another format", (text) => text.replace("checkpoint/1", "checkpoint/2"), "is not a checkpoint"],
    ["a head that is no head", (text) => text.replace('"seq":17', '"seq":"17"'), "is not a checkpoint"],
    ["a writer that is a path", (text) => text.replace('"w-2"', '"../w"'), "is not a checkpoint"],
    ["half of it", (text) => text.slice(0, 100), "is not a checkpoint"],
    ["null", () => "null", "is not a checkpoint"],
  ])("that was changed is refused: %s", (_what, change, problem) => {
    const text = signCheckpoint(checkpoint, key);
    expect(change(text)).not.toBe(text);

    expect(readCheckpoint(change(text), [key, older])).toMatchObject({
      kind: "invalid",
      problem: expect.stringContaining(problem),
    });
  });
});

describe("a checkpoint's head", () => {
  const rows = chain(
    "w-1",
    ["a", "b", "c"].map((id) => ({ id, type: "run.created", at: checkpoint.createdAt, facts: {} })),
  );
  const others = chain(
    "w-1",
    ["a", "x", "c"].map((id) => ({ id, type: "run.created", at: checkpoint.createdAt, facts: {} })),
  );
  const head = (seq: number) => ({ seq, hash: rows[seq - 1]?.row.hash ?? "" });

  it.each<[string, readonly string[], number, string | undefined]>([
    ["is proven by the rows up to it", lines(rows), 2, undefined],
    ["is proven at the end of the chain", lines(rows), 3, undefined],
    [
      "is not proven by rows that were written anew with new hashes",
      lines(others),
      3,
      "is not the one in the checkpoint",
    ],
    ["is proven where only rows behind it were written anew", lines(others), 1, undefined],
    ["is not proven by a chain that ends before it", lines(rows).slice(0, 2), 3, "but the chain ends with row 2"],
    ["is not proven by an empty chain", [], 1, "but the chain ends with row 0"],
    ["is not proven where a row was removed", [lines(rows)[0] ?? "", lines(rows)[2] ?? ""], 3, "row 2 is missing"],
    [
      "is not proven where a row was changed",
      [lines(rows)[0] ?? "", "{}", lines(rows)[2] ?? ""],
      3,
      "row 2 was changed",
    ],
    ["is not proven by the end of a chain alone", lines(rows).slice(1), 3, "row 1 is missing"],
  ])("%s", async (_what, stored, seq, problem) => {
    const problems = await proveHead("w-1", items(stored), { head: head(seq), place: "db" });

    expect(problems.map(({ message }) => message)).toEqual(
      problem === undefined ? [] : [expect.stringContaining(problem)],
    );
  });

  it("is not proven by a journal whose first segments were removed", async () => {
    const kept = items(lines(rows).slice(1), 1);

    const [problem] = await proveHead("w-1", kept, { head: head(3), place: "journal" });

    expect(problem?.message).toContain("verify the database");
  });

  function lines(written: typeof rows): readonly string[] {
    return written.map(({ line }) => line);
  }

  function items(stored: readonly string[], after = 0): ChainItem[] {
    const chain = new Chain("w-1", { seq: after, hash: after === 0 ? noHash : undefined });
    const found = [...chain.startSegment({ name: "", number: after + 1 }, "db", { isNewest: false })];
    for (const [i, line] of stored.entries()) {
      found.push(...chain.take({ bytes: Buffer.from(line), number: i + 1, at: 0, isEnded: true }));
    }
    return found;
  }
});

describe("a key", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "interlock-keys-"));
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it("is made for us alone to read, signs, and is trusted by its public half", async () => {
    const file = join(directory, "key");
    const { id } = await generateKeyFiles(file);

    const made = await readSigningKey(file);

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(made.id).toBe(id);
    expect(readCheckpoint(signCheckpoint(checkpoint, made), await readTrustedKeys(`${file}.pub`)).kind).toBe(
      "checkpoint",
    );
  });

  it("never replaces another", async () => {
    const file = join(directory, "key");
    writeFileSync(file, "precious");

    await expect(generateKeyFiles(file)).rejects.toThrow("exists");

    expect(readFileSync(file, "utf8")).toBe("precious");
  });

  it.each([0o640, 0o604, 0o644, 0o660, 0o620])("with mode %o is refused", async (mode) => {
    const file = join(directory, "key");
    await generateKeyFiles(file);
    chmodSync(file, mode);

    await expect(readSigningKey(file)).rejects.toThrow("can be read by other users");
  });

  it.each([
    ["no key", "nothing", /has no private key/],
    ["another kind of key", pem(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey), /Ed25519 is needed/],
  ])("that is %s is refused, and not repeated", (_what, text, problem) => {
    expect(() => parseSigningKey(text, "the file")).toThrow(problem);
    expect(() => parseSigningKey(text, "the file")).not.toThrow(text.slice(40, 80));
  });

  it("list may have several, and no private one", () => {
    const text = [key, older]
      .map((one) => one.publicKey.export({ type: "spki", format: "pem" }))
      .join("# and before\n");

    expect(parseTrustedKeys(text, "the file").map(({ id }) => id)).toEqual([key.id, older.id]);
    expect(() => parseTrustedKeys(pem(key.privateKey), "the file")).toThrow("has a private key");
    expect(() => parseTrustedKeys("", "the file")).toThrow("has no public key");
  });
});

function newKey() {
  return parseSigningKey(pem(generateKeyPairSync("ed25519").privateKey), "the test");
}

function pem(privateKey: KeyObject): string {
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
