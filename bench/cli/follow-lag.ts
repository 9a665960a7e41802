import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const workflow = `workflowId: ticker
version: 1.0.0
description: Writes the time again and again.
engine: local
targetKinds: [node]
timeout: 2m
`;

/** Adds a workflow to the folder that an `up` in `directory` will read. Its step writes `lines` lines, 20 per second. */
export function addTicker(directory: string, lines: number): void {
  const folder = join(directory, "workflows", "ticker");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "workflow.yaml"), workflow);
  const pipeline = `apiVersion: tekton.dev/v1
kind: Pipeline
metadata:
  name: ticker
spec:
  tasks:
    - name: tick
      taskSpec:
        steps:
          - name: write
            script: |
              i=0
              while [ $i -lt ${lines} ]; do date +%s%3N; i=$((i+1)); sleep 0.05; done
`;
  writeFileSync(join(folder, "pipeline.yaml"), pipeline);
}

/** How long after a step wrote a line `interlock logs -f` has printed it, in ms, for each line written since its first output. */
export async function measureFollowLag(program: string, directory: string): Promise<readonly number[]> {
  const options = { cwd: directory, encoding: "utf8" } as const;
  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [program, ...args, "--config", "settings.yaml"], options);
  run("run", "ticker", "--target", "node/bench-1", "--no-wait");
  const name = run("get", "executions", "--target", "node/bench-1", "-o", "jsonpath={.items[0].metadata.name}").trim();

  const child = spawn(process.execPath, [program, "logs", "-f", name, "--config", "settings.yaml"], {
    cwd: directory,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lags: number[] = [];
  let since: number | undefined;
  for await (const line of createInterface(child.stdout)) {
    const printedAt = Date.now();
    since ??= printedAt;
    const writtenAt = Number(/^tick\/write (\d+)$/.exec(line)?.[1]);
    if (writtenAt >= since) lags.push(printedAt - writtenAt);
  }
  if (lags.length === 0) throw new Error("interlock logs -f printed no line while the step ran");
  return lags;
}
