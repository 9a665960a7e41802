import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../../scripts/bundle.ts";
import { interlockEntry } from "../services/bundle.ts";

type Chunks = Awaited<ReturnType<typeof bundle>>;

// Loading a library takes longer than most commands work.
describe("the packages that are loaded for a command", { timeout: 120_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-chunks-"));
  let chunks: Chunks;
  beforeAll(async () => {
    chunks = await bundle({ entries: { interlock: fileURLToPath(interlockEntry) }, directory });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const helpOnly = ["src/main.ts", "src/cli/command-line.ts"];
  const server = [...helpOnly, "src/cli/server-context.ts", "src/time/index.ts", "src/cli/output/terminal.ts"];

  it.each([
    { command: "help", modules: helpOnly, packages: ["commander"] },
    { command: "get, without settings", modules: [...server, "src/cli/commands/get.ts"], packages: ["commander"] },
    {
      command: "why, without the ledger",
      modules: [...server, "src/cli/commands/why.ts", "src/cli/rule-readers.ts"],
      packages: ["commander", "re2js", "yaml", "zod"],
    },
  ])("$command are $packages alone", ({ modules, packages }) => {
    expect(packagesOf(modules, chunks)).toEqual(packages);
  });

  it("up include those of the stages", () => {
    const packages = packagesOf([...helpOnly, "src/cli/commands/processes/up.ts"], chunks);

    expect(packages).toEqual(expect.arrayContaining(["@photostructure/sqlite", "fastify", "ioredis", "pg", "pino"]));
  });
});

/** The packages in the chunks that contain `modules`, and in all chunks that these import before they run. */
function packagesOf(modules: readonly string[], chunks: Chunks): readonly string[] {
  const waiting = modules.map((module) => {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/${module}`)));
    if (!chunk) throw new Error(`${module} is not in the bundle`);
    return chunk;
  });
  const loaded = new Set<Chunks[number]>();
  for (let chunk = waiting.pop(); chunk; chunk = waiting.pop()) {
    if (loaded.has(chunk)) continue;
    loaded.add(chunk);
    waiting.push(...chunks.filter(({ fileName }) => chunk?.imports.includes(fileName)));
  }
  const names = [...loaded]
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []);
  return [...new Set(names)].sort();
}
