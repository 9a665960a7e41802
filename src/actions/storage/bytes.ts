const units: Readonly<Record<string, bigint>> = {
  "": 1n,
  k: 1_000n,
  M: 1_000n ** 2n,
  G: 1_000n ** 3n,
  T: 1_000n ** 4n,
  P: 1_000n ** 5n,
  Ki: 1_024n,
  Mi: 1_024n ** 2n,
  Gi: 1_024n ** 3n,
  Ti: 1_024n ** 4n,
  Pi: 1_024n ** 5n,
};

/** The bytes of a Kubernetes quantity such as 10Gi, 1.5Ti or 1000000; undefined if it is none. */
export function parseBytes(text: string): bigint | undefined {
  const [, whole = "", fraction = "", unit = ""] = /^(\d{1,15})(?:\.(\d{1,6}))?([KMGTP]i|[kMGTP])?$/.exec(text) ?? [];
  const factor = units[unit];
  if (whole === "" || factor === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  return (BigInt(whole + fraction) * factor) / scale;
}

/** Bytes as a quantity, in the largest binary unit that is exact. */
export function formatBytes(bytes: bigint): string {
  const unit = ["Pi", "Ti", "Gi", "Mi", "Ki"].find((one) => bytes > 0n && bytes % (units[one] ?? 1n) === 0n) ?? "";
  return `${bytes / (units[unit] ?? 1n)}${unit}`;
}
