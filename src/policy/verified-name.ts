/** An admission policy is in force on every API server a moment after it was written. */
const takesEffectMs = 60_000;

/**
 * Why a name on an object can be trusted: the time since which the API server compares names with its callers, by its own
 * clock, or the only user whom it lets write.
 */
export type NameGuarantee = number | { readonly onlyUser: string };

/**
 * A user who may change an object may write any name on it, unless the API server compared it with the user. It did if it
 * had begun to, at `knownSinceMs`, before there was anything to sign, at `signableSinceMs`. Where a single user can write, that
 * user's name is true.
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
