import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { samplesOf } from "../../../test/resources/samples.ts";
import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import type { LedgerEvent } from "../../ledger/index.ts";
import {
  automationPauses,
  codingTasks,
  installCrds,
  type Kind,
  remediationApprovalRequests,
  remediationRequests,
  resourceKinds,
  workflowExecutions,
} from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";
import { errorLines } from "../command.ts";

const hostile = "\u001b]0;x\u0007\u009b2J\u202e\u2028\r\nFORGED   Completed";

let directory: string;
let cluster: KubeClient;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "interlock-external-text-"));
  const clock = new ManualClock();
  cluster = testCluster({ clock, random: systemRandom(), namespaces: ["kubernaut-system"] }).client();
  await installCrds(cluster);
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

const because = ["--reason", `because${hostile}`];

describe("external text is inert in", () => {
  it.each<[string, string, (name: string) => readonly string[], readonly Kind[]]>([
    ...["table", "wide", "json", "yaml", "name", "jsonpath={.items}"].flatMap((output) =>
      resourceKinds.map((kind): [string, string, () => readonly string[], readonly Kind[]] => [
        `get ${kind.plural} as ${output}`,
        "get",
        () => [kind.plural, ...(output === "table" ? [] : ["--output", output])],
        [kind],
      ]),
    ),
    ["get NAME", "get", (name) => ["incidents", name], [workflowExecutions]],
    ["why", "why", (name) => [name], [remediationRequests, workflowExecutions, codingTasks]],
    ["why as JSON", "why", (name) => [name, "-o", "json"], [remediationRequests, workflowExecutions, codingTasks]],
    ["why TARGET", "why", (name) => [`node/${name}`], [automationPauses]],
    ["logs", "logs", (name) => [name], [remediationRequests, workflowExecutions]],
    ["ack", "ack", (name) => [name, ...because], [remediationRequests, workflowExecutions]],
    ["approve", "approve", (name) => [name, ...because], [remediationApprovalRequests]],
    ["reject", "reject", (name) => [name, ...because], [remediationApprovalRequests]],
    ["cancel", "cancel", (name) => [name, ...because], [codingTasks, remediationRequests, workflowExecutions]],
    ["resume", "resume", (name) => [name, ...because], [automationPauses]],
    ["resume of another", "resume", (name) => [`not-${name}`, ...because], [automationPauses]],
    ["pause", "pause", (name) => ["target", name, ...because], [automationPauses]],
    ["run", "run", (name) => [name, "--target", `node/${name}`], [workflowExecutions]],
    ["an unknown option", "get", (name) => [`--${name}`], [remediationRequests]],
  ])("%s", async (_what, command, args, kinds) => {
    const printed: string[] = [];
    for (const kind of kinds) {
      for (const sample of hostileSamples(kind)) printed.push(...(await type(command, args, sample, kind)));
    }

    const text = printed.join("\n");
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(printed.filter((line) => line.trimStart().startsWith("FORGED"))).toEqual([]);
    // Otherwise nothing hostile was printed, and nothing was tested.
    expect(text).toContain(String.raw`\r\nFORGED`);
  });

  it("why of a report that was ignored", async () => {
    const facts = { object: "merge_request", target_resource: "git.example/a/b!7", message: hostile, reason: hostile };
    const events: readonly LedgerEvent[] = [
      {
        id: "1",
        type: "task.ignored",
        at: "2026-11-15T10:00:00.000Z",
        facts: { ...facts, by: hostile, source: hostile },
      },
    ];
    const cli = new TestCli(cluster, { directory, events: () => events });

    await cli.run("why", "a/b!7");

    expect(cli.lines).toHaveLength(3);
    expect(cli.lines.join("")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it("logs of a step on a terminal", async () => {
    const uid = "6d4c1f1e-6f1e-4b6b-9a50-0d7a4a3a6d11";
    const step = join(directory, "local", "runs", uid, "clean.0", "steps", "0");
    mkdirSync(step, { recursive: true });
    writeFileSync(join(step, "output"), `line${hostile}\n`);
    const [sample] = hostileSamples(workflowExecutions).filter(({ status }) => "pipelineRunRef" in (status ?? {}));

    const lines = await type("logs", (name) => [name], sample as Sample, workflowExecutions);

    expect(lines.join("\n")).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(lines[1]).toMatch(/^line\\u001b/);
  });
});

type Sample = KubeObject & { readonly status?: object };

/** What a command prints, errors included. */
async function type(
  command: string,
  args: (name: string) => readonly string[],
  sample: Sample,
  kind: Kind,
): Promise<readonly string[]> {
  const cli = new TestCli(clientWith(sample, kind), { directory });
  try {
    await cli.run(command, ...args(sample.metadata.name ?? ""));
  } catch (error) {
    for (const line of errorLines(error)) cli.terminal.print(line);
  }
  return cli.lines;
}

/** A server that has one object of a kind, which it has not validated, and takes every change. */
function clientWith(sample: Sample, { plural }: Kind): KubeClient {
  const isAsked = (type: ResourceType) => type.plural === plural;
  return {
    ...cluster,
    serverNowMs: () => cluster.serverNowMs(),
    list: async (type: ResourceType, query?: object) =>
      (isAsked(type) ? { items: [sample], resourceVersion: "1" } : await cluster.list(type, query)) as never,
    get: async (type: ResourceType, ref: never) => (isAsked(type) ? sample : await cluster.get(type, ref)) as never,
    create: async (_type: ResourceType, object: KubeObject) => ({ kind: "created", object }) as never,
    patch: async () => ({ kind: "updated", object: sample }) as never,
    update: async () => ({ kind: "updated", object: sample }) as never,
  };
}

/** Samples of every variant with hostile text in each field that is not one of a few words, a time or a uid. */
function hostileSamples(kind: Kind): readonly Sample[] {
  const name = kind === codingTasks ? "ct-sample" : "sample";
  return samplesOf(kind).map((sample) => spoiled({ ...sample, metadata: { ...sample.metadata, name } }) as Sample);
}

const closedFields = /^(apiVersion|kind|phase|type|scope|decision|outcome|eventType|status|uid|resourceVersion)$/;
const timeOrUid = /^(\d{4}-\d\d-\d\dT.*Z|[0-9a-f]{8}-[0-9a-f-]{27})$/;

function spoiled(value: unknown, key = ""): unknown {
  if (typeof value === "string") return closedFields.test(key) || timeOrUid.test(value) ? value : `${value}${hostile}`;
  if (Array.isArray(value)) return value.map((item) => spoiled(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, spoiled(item, name)]));
}
