import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freezeJson, openLogStore } from "../../src/apiserver/index.ts";
import { openFileOccurrenceLog } from "../../src/gateway/index.ts";
import { openFileLedger, readLedger } from "../../src/ledger/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { systemClock } from "../../src/time/index.ts";

const clock = systemClock();
const log = silentLogger;
const writer = "writer";

describe("files of the version after this one", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "interlock-formats-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  it.each([
    [
      "objects",
      "objects",
      (directory: string) => openLogStore({ directory: join(directory, "objects"), parse: freezeJson, clock }),
    ],
    ["journal of the ledger", writer, (directory: string) => openFileLedger({ directory, writer, clock, log })],
    [
      "occurrences",
      "occurrences",
      (directory: string) => openFileOccurrenceLog({ directory: join(directory, "occurrences"), clock, log }),
    ],
  ] as const)("are refused: %s", async (_what, part, open) => {
    const first = await open(root);
    await first.close();
    await raiseFormat(join(root, part));

    await expect(open(root)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("written by a newer version of Interlock"),
    });
  });

  it("are refused by readers of the ledger, while another process may write them", async () => {
    const ledger = await openFileLedger({ directory: root, writer, clock, log });
    await raiseFormat(join(root, writer));

    await expect(readLedger(root).next()).rejects.toMatchObject({ code: "unsupported" });
    await ledger.close();
  });
});

async function raiseFormat(directory: string): Promise<void> {
  const file = join(directory, "format");
  await writeFile(file, (await readFile(file, "utf8")).replace("/1", "/2"));
}
