import { formatDuration } from "../format.ts";
import { ageMs, type Connection, connection } from "../live/live.ts";
import type { Tone } from "../tones.ts";

/** A warning that the page shows old data. Operations are disabled meanwhile. */
export function StaleBanner() {
  return (
    <div class="stale-place" role="alert">
      {connection.value === "stale" && (
        <div class="stale">
          <strong>This page is {formatDuration(ageMs.value)} old.</strong> The connection to the server is interrupted;
          actions are disabled until it is back.
        </div>
      )}
    </div>
  );
}

const states: Readonly<Record<Connection, { readonly tone: Tone; readonly text: string }>> = {
  live: { tone: "good", text: "Live" },
  connecting: { tone: "neutral", text: "Connecting" },
  stale: { tone: "bad", text: "Stale" },
};

export function LiveStatus() {
  const { tone, text } = states[connection.value];
  return (
    <span class="live" data-tone={tone}>
      {text}
    </span>
  );
}
