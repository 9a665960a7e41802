/** Milliseconds on the machine's monotonic clock: the same clock in every process, so that they can be compared. */
export function machineMs(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000 + nanos / 1_000_000;
}
