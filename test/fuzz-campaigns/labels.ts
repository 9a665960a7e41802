import { diagnose, readRules } from "../../src/policy/index.ts";
import { builtInKinds } from "../../src/resources/index.ts";
import { alertmanager, generic } from "../../src/sources/index.ts";
import { Dice } from "../chaos/dice.ts";

export interface LabelFuzzReport {
  readonly signals: number;
  readonly admitted: number;
  /** What was wrong, with the labels that caused it. */
  readonly bad: readonly string[];
}

const receivedAt = "2026-11-15T06:00:00.000Z";
const maxKeptLength = 20_000;

/** Reads alerts and signals with labels of every kind, and has rules with expensive expressions look at them. */
export function fuzzLabels(total: number, seed: number): LabelFuzzReport {
  const dice = new Dice(seed);
  const bad: string[] = [];
  let admitted = 0;
  for (let i = 0; i < total; i++) {
    const labels = labelsOf(dice);
    const annotations = dice.chance(0.5) ? labelsOf(dice) : {};
    const problem = problemWith(labels, annotations, dice);
    if (problem === undefined) admitted++;
    else if (problem !== "refused") bad.push(`${problem}: ${JSON.stringify(labels).slice(0, 300)}`);
  }
  return { signals: total, admitted, bad };
}

/** `refused`: the reader reports why, which is fine. */
function problemWith(labels: Labels, annotations: Labels, dice: Dice): string | undefined {
  const reading = dice.chance(0.5)
    ? alertmanager.read(
        { version: "4", alerts: [{ status: "firing", labels: { alertname: "X", node: "n", ...labels }, annotations }] },
        receivedAt,
      )
    : generic.read({ name: "X", target: "node/n", labels, annotations }, receivedAt);
  const [one] = reading.kind === "signals" ? reading.readings : [];
  if (one?.kind !== "signal") return "refused";
  const { signal } = one;
  if (JSON.stringify([signal.labels, signal.annotations]).length > 6 * maxKeptLength)
    return "labels were not truncated";
  if (Object.getPrototypeOf(signal.labels) !== Object.prototype) return "a label changed the prototype";
  const spec = {
    signalFingerprint: "v1:x",
    signalName: signal.name,
    severity: signal.severity,
    targetResource: { kind: "Node", name: "n" },
    firingTime: receivedAt,
    receivedTime: receivedAt,
    signalLabels: signal.labels,
  };
  const rules = readRules({ path: "r.yaml", text: rulesText });
  if (rules.kind !== "valid") return `the rules are invalid: ${rules.problems.join("; ")}`;
  const startedAt = process.cpuUsage();
  diagnose(spec, rules.rules, builtInKinds);
  // A matcher that backtracks takes minutes; CPU time does not depend on what else the machine does.
  return process.cpuUsage(startedAt).user > 2_000_000 ? "matching took more than two seconds of CPU" : undefined;
}

type Labels = Readonly<Record<string, string>>;

const expressions = ["/(a+)+b/", "/([a-z]+)*X/", "/(a|a?)+c/", "/(.*)*!/", "/(x+x+)+y/", "/(.|\\\\n)*z/"];
const rulesText = JSON.stringify({
  rules: expressions.map((expression, i) => ({
    name: `r${i}`,
    match: { labels: { [`l${i % 3}`]: expression } },
    workflow: "w",
  })),
});

const names = [
  "l0",
  "l1",
  "l2",
  "alertname",
  "namespace",
  "pod",
  "node",
  "job",
  "instance",
  "__proto__",
  "constructor",
  "interlock_target",
  "exported_pod",
  "",
];
const characters = [
  "a",
  "x",
  "A",
  "!",
  "\n",
  "\u0000",
  "\u001b[31m",
  "\ud800",
  "é",
  "\u{1f600}",
  "/",
  ":",
  "{{ labels.a }}",
  "0",
];

function labelsOf(dice: Dice): Labels {
  const entries = Array.from({ length: dice.whole(0, 8) }, () => {
    const name = dice.chance(0.2) ? dice.pick(characters).repeat(dice.whole(1, 500)) : dice.pick(names);
    const length = dice.chance(0.1) ? dice.whole(1, 120_000) : dice.whole(0, 60);
    return [name, dice.pick(characters).repeat(length)] as const;
  });
  // As JSON would have it: __proto__ is a name like any other.
  return JSON.parse(
    `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`,
  );
}
