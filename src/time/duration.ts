const units = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** Milliseconds of a duration written like `500ms`, `30s`, `1h` or `1m30s`. Undefined if `text` is not one. */
export function parseDuration(text: string): number | undefined {
  const counts = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text)?.slice(1);
  if (!counts || text === "") return undefined;

  let ms = 0;
  for (const [i, [, size]] of units.entries()) ms += Number(counts[i] ?? 0) * size;
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The shortest way to write a duration: 150000 is `2m30s`. Fractions are rounded to whole milliseconds. */
export function formatDuration(ms: number): string {
  let rest = Math.round(ms);
  if (!Number.isSafeInteger(rest) || rest < 0) throw new TypeError(`a duration is 0 ms or more, got ${ms}`);

  let text = "";
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest %= size;
  }
  return text || "0s";
}
