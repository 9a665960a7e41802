import { beforeEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { type TestCluster, testCluster } from "../../test/doubles/test-cluster.ts";
import { loadConfig } from "../config/index.ts";
import { jobEngine, localEngine, tektonEngine } from "../engines/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { reportEngineProblems } from "./engine-problems.ts";
import { HealthReports } from "./health/health-reports.ts";
import type { StageOptions } from "./stage.ts";

const removal = (engine: string) => `remove ${engine} from execution.engines`;
const grant = "grant the executor's role with: interlock install";

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster({ clock: systemClock(), random: systemRandom(), namespaces: ["kubernaut-workflows"] });
});

describe("an engine that is configured", () => {
  it("and needs a cluster cannot run anything on the embedded API server, which status shows, too", async () => {
    const { warnings, health } = await check({ onlyUser: "interlock-admin" });

    const fix = "or start the stages in a cluster that has one (docs/cluster.md)";
    expect(warnings).toEqual([
      {
        engine: "tekton",
        problem: "the embedded API server has no Tekton: a PipelineRun is stored and never executed",
        next: `${removal("tekton")}, ${fix}`,
      },
      {
        engine: "job",
        problem: "the embedded API server has no Job controller: a Job is stored and never executed",
        next: `${removal("job")}, ${fix}`,
      },
    ]);
    expect(health.list().map(({ area }) => area)).toEqual(["engines", "engines"]);
  });

  it("and has the rights to its runs is not reported", async () => {
    expect(await check({ client: answering(() => true) })).toMatchObject({ warnings: [] });
  });

  it("but whose runs must not be listed is reported with the right to grant", async () => {
    cluster.forbid("list", "jobs");

    const { warnings } = await check({ client: answering(() => true) });

    expect(warnings).toEqual([
      { engine: "job", problem: expect.stringContaining("cannot list"), next: `${grant}, or ${removal("job")}` },
    ]);
  });

  it("but whose runs must not be created or deleted is reported with the missing rights", async () => {
    const { warnings } = await check({
      client: answering(({ verb = "", resource }) => resource !== "jobs" || !["create", "delete"].includes(verb)),
    });

    expect(warnings).toEqual([
      {
        engine: "job",
        problem: "no right to create, delete jobs in the namespace kubernaut-workflows",
        next: `${grant}, or ${removal("job")}`,
      },
    ]);
  });

  it("but whose kind the API server does not have is reported with what to install", async () => {
    const client = answering(() => true);
    const missing = { ...tektonEngine(client).runs, apiVersion: "tekton.example/v9" };

    const { warnings } = await check({ client, engines: [{ ...tektonEngine(client), runs: missing }] });

    expect(warnings).toEqual([expect.objectContaining({ next: `install tekton.example/v9, or ${removal("tekton")}` })]);
  });
});

/** A client that answers access reviews. */
function answering(allows: (attributes: Readonly<Record<string, string>>) => boolean): KubeClient {
  const client = cluster.client();
  const create: KubeClient["create"] = async (type, object, call) => {
    if (type.kind !== "SelfSubjectAccessReview") return client.create(type, object, call);
    const { spec } = object as unknown as { spec: { resourceAttributes: Readonly<Record<string, string>> } };
    return { kind: "created", object: { ...object, status: { allowed: allows(spec.resourceAttributes) } } };
  };
  return { ...client, create };
}

interface Checked extends Partial<StageOptions> {
  readonly engines?: Parameters<typeof reportEngineProblems>[0];
}

async function check({ client = cluster.client(), engines, ...more }: Checked) {
  const loaded = loadConfig({ yaml: { path: "interlock.yaml", text: "" }, env: {} });
  if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
  const log = recordingLogger();
  const health = new HealthReports();
  const all = [
    localEngine({ client, workflowsRoot: "/nowhere", stepsHaveKubeconfig: false }),
    tektonEngine(client),
    jobEngine(client),
  ];
  await reportEngineProblems(engines ?? all, { loaded, client, log, health, ...more } as unknown as StageOptions);
  return { warnings: log.events.map(({ fields }) => fields), health };
}
