import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type EmbeddedApi, startEmbeddedApi } from "../../../app/index.ts";
import { namespaces } from "../../../kube/index.ts";
import { silentLogger } from "../../../telemetry/index.ts";
import { systemClock, systemRandom } from "../../../time/index.ts";
import type { Terminal } from "../../output/terminal.ts";
import { openStage } from "./stage.ts";

const [clock, random] = [systemClock(), systemRandom()];
let directory: string;
let api: EmbeddedApi;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "interlock-stage-"));
  const listen = { host: "127.0.0.1", port: 0 };
  api = await startEmbeddedApi({ directory: join(directory, "api"), listen, clock, random, log: silentLogger });
});

afterEach(async () => {
  await api.close();
  await rm(directory, { recursive: true, force: true });
});

describe("the process of a single stage", () => {
  it("creates the namespaces that its settings name, that of locks included", async () => {
    const file = join(directory, "interlock.yaml");
    const place = (section: string) => `${section}:\n  namespace: of-${section}\n`;
    await writeFile(file, `log:\n  level: error\n${["locks", "gateway", "execution", "agent"].map(place).join("")}`);

    const context = {
      clock,
      random,
      env: {},
      terminal: {} as Terminal,
    };
    await openStage(context, { config: file, kubeconfig: api.kubeconfigFile, data: join(directory, "own") });

    const names = (await api.client.list(namespaces)).items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(["of-locks", "of-gateway", "of-execution", "of-agent"]));
  });
});
