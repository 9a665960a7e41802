import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Has an `up` that runs in `directory` open `count` incidents, for which there is no rule. Returns their short names. */
export function openIncidents(program: string, directory: string, count: number): readonly string[] {
  const alerts = Array.from({ length: count }, (_, i) => ({
    status: "firing",
    labels: { alertname: "BenchmarkAlert", node: `node-${i}`, severity: "warning" },
    annotations: { summary: "A node of the benchmark." },
    startsAt: new Date().toISOString(),
    fingerprint: i.toString(16).padStart(16, "0"),
  }));
  const file = join(directory, "alerts.json");
  writeFileSync(file, JSON.stringify({ version: "4", status: "firing", receiver: "benchmark", alerts }));
  const args = [program, "receive", "alertmanager", "-p", file, "--config", "settings.yaml"];
  const output = execFileSync(process.execPath, args, { cwd: directory, encoding: "utf8" });
  return [...output.matchAll(/^created (rr-\S+):/gm)].map(([, name = ""]) => name);
}
