import { formatDuration } from "../format.ts";
import { ageMs, isStale } from "../live/live.ts";

/** Says that the page shows the past. Operations are disabled meanwhile. */
export function StaleBanner() {
  return (
    <div class="stale-place" role="alert">
      {isStale.value && (
        <div class="stale">
          <strong>This page is {formatDuration(ageMs.value ?? 0)} old.</strong> The connection to the server is
          interrupted; actions are disabled until it is back.
        </div>
      )}
    </div>
  );
}

export function LiveStatus() {
  const tone = isStale.value ? "bad" : ageMs.value === undefined ? "neutral" : "good";
  const text = isStale.value ? "Stale" : ageMs.value === undefined ? "Connecting" : "Live";
  return (
    <span class="live" data-tone={tone}>
      {text}
    </span>
  );
}
