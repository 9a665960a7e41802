/** An admission policy takes effect on every API server within this time after it was written. */
const takesEffectMs = 60_000;

/**
 * Why a name on an object can be trusted: the time since which the API server compares names with its callers, by its own
 * clock, or the only user whom it lets write.
 */
export type NameGuarantee = number | { readonly onlyUser: string };

/**
 * Whether the name in an annotation is that of its author. Users who can change an object can write any name, unless the API server
 * compares it with the user. It did if it had begun to, at `knownSinceMs`, before the annotation could be written, at
 * `signableSinceMs`. If only one user can write, the name of that user is verified.
 */
export function isVerifiedName(
  name: string | undefined,
  {
    knownSinceMs,
    signableSinceMs,
  }: { readonly knownSinceMs: NameGuarantee | undefined; readonly signableSinceMs: number },
): boolean {
  if (!name || knownSinceMs === undefined) return false;
  if (typeof knownSinceMs === "object") return name === knownSinceMs.onlyUser;
  return knownSinceMs + takesEffectMs <= signableSinceMs;
}
