/** A time as it is written into objects. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString();
}
