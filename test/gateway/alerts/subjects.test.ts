import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/kube/index.ts";
import { fixedKinds, kindsWith } from "../../../src/resources/index.ts";
import { builtInReporters } from "../../../src/sources/alertmanager/reporters.ts";
import { alertmanager } from "../../../src/sources/index.ts";
import { GatewayWorld, pods } from "../gateway-world.ts";
import { type Case, casesOf } from "./corpus.ts";
import { exporters, setups } from "./setups.ts";

/** The named subject compared with the actual one. `refused`: no subject was named although the labels identify it. */
interface Score {
  readonly setup: string;
  readonly right: number;
  readonly coarse: number;
  readonly refused: number;
  readonly wrong: number;
  /** The alerts that count against us, for the person who has to look at them. */
  readonly mistakes: readonly string[];
}

describe("the subjects of public alerts", () => {
  let scores: readonly Score[];

  beforeAll(async () => {
    scores = await scoreAll();
  }, 120_000);

  it.each(setups.map(({ name }) => name))(
    "with %s are wrong in at most 1 of 100 cases and refused in at most 2",
    (name) => {
      const score = scores.find(({ setup }) => setup === name) as Score;
      const total = score.right + score.coarse + score.refused + score.wrong;

      expect(total).toBeGreaterThan(150);
      expect(score.wrong / total, score.mistakes.join("\n")).toBeLessThanOrEqual(0.01);
      expect(score.refused / total, score.mistakes.join("\n")).toBeLessThanOrEqual(0.02);
    },
  );

  it("are scored in docs/gateway.md as they are found", () => {
    const rows = scores.map(({ setup, right, coarse, refused, wrong }) => {
      return `| ${setup} | ${right} | ${coarse} | ${refused} | ${wrong} |`;
    });

    const names = setups.map(({ name }) => `| ${name} |`);
    expect(
      page()
        .split("\n")
        .filter((line) => names.some((name) => line.startsWith(name))),
    ).toEqual(rows);
  });

  it("are found by the rows that docs/gateway.md lists", () => {
    const listed = page().split("\n");

    const missing = builtInReporters.filter(({ name }) => !listed.some((line) => line.startsWith(`| ${name} |`)));
    expect(missing).toEqual([]);
  });
});

function page(): string {
  return readFileSync(new URL("../../../docs/gateway.md", import.meta.url), "utf8");
}

/** Each alert is read and looked up as the gateway does it, on an API server with the Nodes and the exporters' Pods. */
async function scoreAll(): Promise<readonly Score[]> {
  const world = await clusterWithExporters();
  const custom = (kind: string, group: string) => ({ kind, plural: `${kind.toLowerCase()}s`, group, namespaced: true });
  const kinds = kindsWith([custom("Certificate", "cert-manager.io"), custom("Application", "argoproj.io")]);
  const gateway = await world.gateway({ kinds: fixedKinds(kinds) });
  const scores: Score[] = [];
  for (const setup of setups) {
    const counts = { right: 0, coarse: 0, refused: 0, wrong: 0 };
    const mistakes: string[] = [];
    for (const one of casesOf(setup)) {
      const found = await subjectFound(one, gateway);
      const verdict = verdictOn(one, found);
      counts[verdict]++;
      if (verdict === "refused" || verdict === "wrong") {
        mistakes.push(`${verdict}: ${one.alert} is ${one.expected}, found ${found} in ${JSON.stringify(one.labels)}`);
      }
    }
    scores.push({ setup: setup.name, ...counts, mistakes });
  }
  return scores;
}

async function subjectFound({ labels }: Case, gateway: Awaited<ReturnType<GatewayWorld["gateway"]>>) {
  const body = { version: "4", alerts: [{ status: "firing", labels, annotations: {} }] };
  const payload = alertmanager.read(body, "2026-11-15T06:00:00.000Z");
  const [reading] = payload.kind === "signals" ? payload.readings : [];
  if (reading?.kind !== "signal") throw new Error(`not read: ${JSON.stringify(reading)}`);
  const preview = await gateway.preview(reading.signal);
  if (preview.kind === "invalid") throw new Error(preview.problems.join());
  return preview.subject;
}

function verdictOn({ expected, coarse }: Case, found: string | undefined): "right" | "coarse" | "refused" | "wrong" {
  if (found === expected) return "right";
  if (found === undefined) return "refused";
  return coarse.includes(found) ? "coarse" : "wrong";
}

async function clusterWithExporters(): Promise<GatewayWorld> {
  const namespaces = new Set(Object.values(exporters).map(({ namespace }) => namespace));
  const world = await GatewayWorld.open([...namespaces]);
  const addresses = { "worker-1": "10.0.1.11", "infra-1": "10.0.1.12", "control-1": "10.0.1.1" };
  for (const [name, InternalIP] of Object.entries(addresses)) await world.node(name, { InternalIP });
  for (const { pod, namespace, node } of Object.values(exporters)) {
    if (pod) await world.object(pods, { metadata: { name: pod, namespace }, spec: { nodeName: node } } as KubeObject);
  }
  return world;
}
