import type { LabelDeclarations, Labelled } from "./metrics.ts";

/** The declaration of any metric. */
export interface Declaration {
  readonly name: string;
  readonly help: string;
  readonly labels?: LabelDeclarations | undefined;
  readonly buckets?: readonly number[];
}

/** One value for each label of a metric. */
export type SeriesLabels = Readonly<Record<string, string>>;

/** Makes every series of a metric up front, so that finding one later is a single look-up. */
export function allSeries<S>(
  { name, labels = {} }: Declaration,
  make: (labels: SeriesLabels) => S,
): Labelled<LabelDeclarations, S> {
  const names = Object.keys(labels);
  const series = new Map<string, S>();
  for (const values of listSeries(labels)) series.set(seriesKey(values, names), make(values));

  return {
    with(values) {
      const found = series.get(seriesKey(values, names));
      if (found && Object.keys(values).length === names.length) return found;
      throw new TypeError(`${name} has no series ${JSON.stringify(values)}; declared are ${JSON.stringify(labels)}`);
    },
  };
}

/** Throws TypeError unless the metric can be scraped and its help describes it. */
export function checkDeclaration(
  { name, help, labels = {}, buckets = [0] }: Declaration,
  type: "counter" | "gauge" | "histogram",
): void {
  const mistakes = Object.entries(labels).flatMap(([label, values]) => labelMistakes(label, values));
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(name)) mistakes.push("its name is not lower-case words joined by _");
  if (name.endsWith("_total") !== (type === "counter")) mistakes.push("counters end in _total, and only they do");
  if (/_(count|sum|bucket)$/.test(name)) mistakes.push("its name ends with a suffix that is reserved for histograms");
  if (help.trim() === "") mistakes.push("it has no help");
  if (!isRising(buckets)) mistakes.push("its buckets do not rise");
  // Prometheus keeps each of them, for each replica.
  if (seriesCount(labels) > 500) mistakes.push("it has more than 500 series");
  if (mistakes.length > 0) throw new TypeError(`${type} ${name} cannot be declared: ${mistakes.join("; ")}`);
}

function labelMistakes(label: string, values: readonly string[]): string[] {
  const mistakes: string[] = [];
  if (!/^[a-z][a-z0-9_]*$/.test(label) || label === "le") mistakes.push(`"${label}" cannot be the name of a label`);
  if (values.length === 0) mistakes.push(`label ${label} has no values`);
  if (new Set(values).size < values.length) mistakes.push(`label ${label} has a value twice`);
  if (!values.every((value) => /^[\w./-]+$/.test(value))) mistakes.push(`label ${label} has a value of several words`);
  return mistakes;
}

function isRising(buckets: readonly number[]): boolean {
  const rises = (bound: number, i: number) => bound > (buckets[i - 1] ?? Number.NEGATIVE_INFINITY);
  return buckets.length > 0 && buckets.every((bound, i) => Number.isFinite(bound) && rises(bound, i));
}

function seriesCount(labels: LabelDeclarations): number {
  let count = 1;
  for (const values of Object.values(labels)) count *= values.length;
  return count;
}

/** Every combination of label values. */
export function listSeries(labels: LabelDeclarations): readonly SeriesLabels[] {
  let all: SeriesLabels[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    all = all.flatMap((others) => values.map((value) => ({ ...others, [label]: value })));
  }
  return all;
}

function seriesKey(values: SeriesLabels, names: readonly string[]): string {
  let identity = "";
  // Values are single words, so a space keeps ("a", "bc") and ("ab", "c") apart.
  for (const name of names) identity += `${values[name]} `;
  return identity;
}
