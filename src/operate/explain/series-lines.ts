import { type IncidentSeries, type RemediationRequest, seriesLabels, severityRank } from "../../resources/index.ts";

const maxListed = 10;

/** One line per series of an incident: firing ones first, the most severe first. Empty if there is only one series. */
export function seriesLines({ spec, status }: Pick<RemediationRequest, "spec" | "status">): readonly string[] {
  const { series = {}, hasMoreSeries = false } = status?.deduplication ?? {};
  const all = Object.values(series);
  if (all.length < 2 && !hasMoreSeries) return [];
  const severityOf = ({ severity = spec.severity }: IncidentSeries) => severity;
  const sorted = all.sort(
    (one, other) =>
      Number(one.resolvedAt !== undefined) - Number(other.resolvedAt !== undefined) ||
      severityRank(severityOf(other)) - severityRank(severityOf(one)) ||
      (one.firingAt < other.firingAt ? -1 : 1),
  );
  const names = distinguishingLabels(all);
  const lines = sorted.slice(0, maxListed).map((one) => {
    const labels = one.isTooLarge ? "labels too large to store" : labelText(seriesLabels(one, spec), names);
    const time = one.resolvedAt === undefined ? `fires since ${one.firingAt}` : `ended at ${one.resolvedAt}`;
    return [severityOf(one), labels, time].filter(Boolean).join(", ");
  });
  if (all.length > maxListed) lines.push(`and ${all.length - maxListed} more`);
  if (hasMoreSeries) lines.push(`more series than the ${all.length} listed fired; rules do not read the others`);
  return lines;
}

/** Names of the labels in which series differ. The severity is shown anyway. */
function distinguishingLabels(all: readonly IncidentSeries[]): readonly string[] {
  const names = all.flatMap(({ labels = {}, withoutLabels = [] }) => [...Object.keys(labels), ...withoutLabels]);
  return [...new Set(names)].filter((name) => name !== "severity").sort();
}

function labelText(labels: Readonly<Record<string, string>>, names: readonly string[]): string {
  return names.flatMap((name) => (labels[name] === undefined ? [] : [`${name}=${labels[name]}`])).join(" ");
}
