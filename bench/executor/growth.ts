import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { defaultPolicy, foldEnd } from "../../src/policy/index.ts";
import {
  executionNamespace,
  parseTarget,
  type RemediationTargetStatus,
  remediationTargets,
  targetHash,
} from "../../src/resources/index.ts";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { Endings, hasEnded } from "./endings.ts";
import { putPast } from "./past.ts";
import type { Measured, Plan } from "./plans.ts";
import { clock, openWorkbench, type Workbench } from "./workbench.ts";

interface Past {
  /** Executions in the store, of other targets. */
  readonly stored: number;
  /** Executions that ended on the target before. */
  readonly onTarget: number;
}

const little: Past = { stored: 1_000, onTarget: 10 };
const much: Past = { stored: 100_000, onTarget: 10_000 };

/** What a decision costs with little and with much of a past: the time to skip an execution, and the reads for it. */
export async function measureGrowth(folder: string, plan: Plan): Promise<Measured> {
  const small = await decisions(folder, little, plan);
  const large = await decisions(folder, much, plan);
  printTable(
    "A decision",
    ["", "little past", "much past"],
    [
      ["executions in the store", little.stored, much.stored],
      ["of which ended on the target", little.onTarget, much.onTarget],
      ["created → skipped, ms p50", small.skipMs, large.skipMs],
      ["reads from the API server", small.reads, large.reads],
    ],
  );
  return {
    figures: { decideReads: large.reads, decideGrowth: large.skipMs / small.skipMs },
    calibration: { skipMsLittlePast: small.skipMs, skipMsMuchPast: large.skipMs },
  };
}

async function decisions(folder: string, past: Past, { skips, warmUp }: Plan) {
  const directory = mkdtempSync(join(folder, "growth-"));
  const bench = await openWorkbench(directory);
  await fill(bench, past);
  await writeHistory(bench, past.onTarget);
  await bench.start();
  const endings = new Endings(bench, hasEnded);
  await settled(bench);

  const taken: number[] = [];
  let reads = 0;
  for (let i = -warmUp; i < skips; i++) {
    const name = `skip-${i + warmUp}`;
    const ended = endings.of(name);
    const before = bench.calls.reads;
    const from = clock.now();
    await bench.create(name, "node/worker-1");
    taken.push((await ended) - from);
    reads = bench.calls.reads - before;
  }
  endings.stop();
  await bench.close();
  rmSync(directory, { recursive: true });
  return { skipMs: median(taken.slice(warmUp)), reads };
}

/** The first executions were on the target that is asked about, the others on targets of their own. */
async function fill({ store }: Workbench, { stored, onTarget }: Past): Promise<void> {
  for (let i = 0; i < stored; i += 500) {
    const some = Array.from({ length: 500 }, (_, j) => {
      const target = targetOf(i + j < onTarget ? "node/worker-1" : `node/other-${i + j}`);
      return putPast(store, i + j, target.text, targetHash(target));
    });
    await Promise.all(some);
  }
}

/** A record with that many ends folded into it, and a failure that blocks whatever comes. */
async function writeHistory({ client }: Workbench, ends: number): Promise<void> {
  const target = targetOf("node/worker-1");
  let status: RemediationTargetStatus = {};
  for (let i = 0; i < ends; i++) {
    const end = {
      executionUid: `uid-${i}`,
      executionName: `past-${i}`,
      executionNamespace: "default",
      outcome: "Failed" as const,
      completedAt: new Date(1_700_000_000_000 + i * 1_000).toISOString(),
      reason: "TaskRunFailed" as const,
      wasExecutionFailure: true,
    };
    status = foldEnd(status, { workflowId: "cleanup", end, backoff: defaultPolicy.backoff });
  }
  const { apiVersion, kind } = remediationTargets;
  const metadata = { name: targetHash(target), namespace: executionNamespace };
  const made = await client.create(remediationTargets, {
    apiVersion,
    kind,
    metadata,
    spec: { targetResource: "node/worker-1" },
  });
  if (made.kind !== "created") throw new Error("the record is there already");
  await client.update(remediationTargets, { ...made.object, status }, { subresource: "status" });
}

/** The executor looks at everything once when it starts. */
async function settled({ calls }: Workbench): Promise<void> {
  for (let last = -1; last !== calls.reads + calls.writes; ) {
    last = calls.reads + calls.writes;
    await new Promise((resolve) => clock.after(500, () => resolve(undefined)));
  }
}

function targetOf(text: string) {
  const read = parseTarget(text);
  if (read.kind === "problem") throw new Error(read.problem);
  return read.target;
}
