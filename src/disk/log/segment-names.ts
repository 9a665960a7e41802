/** A file with some of the records of a log. The records of the segment with the next higher number follow. */
export interface Segment {
  readonly name: string;
  readonly number: number;
}

/** How the segments of a log are named: by their numbers, so that names in order are segments in order. */
export interface SegmentNames {
  name(number: number): string;
  /** The segments among the files of a directory, in order. */
  among(names: readonly string[]): Segment[];
}

/** Segments named like `{prefix}00000001{suffix}`, with at least `digits` digits. */
export function segmentNames(parts: { prefix?: string; digits: number; suffix: string }): SegmentNames {
  const { prefix = "", digits, suffix } = parts;
  const name = (number: number) => `${prefix}${String(number).padStart(digits, "0")}${suffix}`;

  return {
    name,
    among(names) {
      return names
        .map((file) => ({ name: file, number: Number(file.slice(prefix.length, -suffix.length)) }))
        .filter((segment) => Number.isSafeInteger(segment.number) && segment.name === name(segment.number))
        .sort((one, other) => one.number - other.number);
    },
  };
}
