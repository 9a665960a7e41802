/** The value below which a share of `values` lies: 0.5 is the median. NaN if there are none. */
export function quantile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: Iterable<number>): number {
  return quantile(values, 0.5);
}
