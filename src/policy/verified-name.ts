/** An admission policy is in force on every API server a moment after it was written. */
const takesEffectMs = 60_000;

/**
 * Whoever may change an object may write any name on it, unless the API server compared it with who they are. It did if it
 * had begun to, at `knownSinceMs`, before there was anything to sign, at `signableSinceMs`; both by its own clock.
 */
export function isVerifiedName(
  name: string | undefined,
  { knownSinceMs, signableSinceMs }: { readonly knownSinceMs: number | undefined; readonly signableSinceMs: number },
): boolean {
  if (!name || knownSinceMs === undefined) return false;
  return knownSinceMs + takesEffectMs <= signableSinceMs;
}
