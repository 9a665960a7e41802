import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { conclude } from "../conclude.ts";
import { median, quantile } from "../locks/quantile.ts";
import { addTicker, measureFollowLag } from "./follow-lag.ts";
import { openIncidents } from "./incidents.ts";
import { installPackage } from "./installed.ts";
import { plans } from "./plans.ts";
import { targets } from "./targets.ts";
import { type Line, timeCommand, timeStart } from "./timed.ts";

// npm run bench:cli -- --quick
//
// Commands of the installed package, in turns with kubectl against the same server and with Node that does nothing.
const plan = process.argv.includes("--quick") ? plans.quick : plans.full;
const incidents = 100;
const ready = "Interlock is running.";

console.log(`Node ${process.version}, ${cpus().length} CPUs`);
const folder = mkdtempSync(join(tmpdir(), "interlock-bench-cli-"));
try {
  const { program, tarballMb } = installPackage(folder);
  const empty = join(folder, "empty.mjs");
  writeFileSync(empty, "");
  const node: Line = [process.execPath, empty];

  const starts = await measureStarts(program);
  const { figures, calibration } = await measureCommands(program, node);
  conclude([{ figures: { ...figures, ...starts, tarballMb }, calibration }], targets);
} finally {
  rmSync(folder, { recursive: true });
}

/** Until `up` prints its screen, in a directory that is empty each time. */
async function measureStarts(program: string): Promise<{ readonly upReadyMs: number }> {
  const times: number[] = [];
  for (let i = 0; i < plan.starts; i++) {
    const directory = join(folder, `start-${i}`);
    const { readyMs, stop } = await startUp(program, directory);
    await stop();
    times.push(readyMs);
  }
  return { upReadyMs: median(times) };
}

async function measureCommands(program: string, node: Line) {
  const directory = join(folder, "commands");
  addTicker(directory, plan.lines);
  const { stop } = await startUp(program, directory);
  const kubeconfig = join(directory, ".data/kubeconfig");
  const [name = ""] = openIncidents(program, directory, incidents);
  const kubectl: Line = [
    "kubectl",
    "--kubeconfig",
    kubeconfig,
    "--namespace",
    "kubernaut-system",
    "get",
    "remediationrequests",
  ];
  const times = inTurns(directory, {
    bareNode: node,
    help: [process.execPath, program, "help"],
    get: [process.execPath, program, "get", "incidents"],
    why: [process.execPath, program, "why", name],
    kubectlGet: kubectl,
  });
  const lags = await measureFollowLag(program, directory);
  await stop();
  return {
    figures: {
      logsFollowLagMs: quantile(lags, 0.95),
      getVsKubectl: times.get / times.kubectlGet,
      whyVsKubectlGet: times.why / times.kubectlGet,
      helpVsBareNode: times.help / times.bareNode,
    },
    calibration: { bareNodeMs: times.bareNode, kubectlGetMs: times.kubectlGet, getMs: times.get, whyMs: times.why },
  };
}

function startUp(program: string, directory: string) {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "settings.yaml"), "gateway:\n  listen: 127.0.0.1:0\nconsole:\n  listen: 127.0.0.1:0\n");
  const args = ["up", "--listen", "127.0.0.1:0", "--config", "settings.yaml"];
  return timeStart([process.execPath, program, ...args], directory, ready);
}

/** The median time of each command. They take turns, so that a busy moment of the machine meets all of them. */
function inTurns<Name extends string>(cwd: string, lines: Readonly<Record<Name, Line>>): Record<Name, number> {
  const names = Object.keys(lines) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  // The first round fills the caches of the disk, and kubectl's own.
  for (let round = -1; round < plan.rounds; round++) {
    for (const name of names) {
      const took = timeCommand(lines[name], cwd);
      if (round >= 0) times[name].push(took);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<Name, number>;
}
