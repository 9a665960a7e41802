import { formatCountdown, formatDuration, formatLocal, formatRelative, formatUtc, shortNames } from "../format.ts";
import { clock } from "../time.ts";

interface TimeProps {
  readonly at: string | undefined;
  /** "relative" counts from now; "local" is the time of day. The other one is in the tooltip, with UTC. */
  readonly style?: "relative" | "local";
}

export function Time({ at, style = "local" }: TimeProps) {
  const ms = at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(ms)) return <span class="muted">–</span>;
  // Only a relative time changes with the clock.
  const now = style === "relative" ? clock.value : clock.peek();
  const local = formatLocal(ms, now);
  return (
    <time dateTime={at} title={style === "relative" ? `${local} · ${formatUtc(ms)}` : formatUtc(ms)}>
      {style === "relative" ? formatRelative(ms, now) : local}
    </time>
  );
}

const utcTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the server, with local times and short names as elsewhere on the page. */
export function Sentence({ text }: { readonly text: string }) {
  // With one group, every second part is a time.
  return (
    <>
      {shortNames(text)
        .split(utcTime)
        .map((part, index) => (index % 2 === 1 ? <Time key={index} at={part} /> : part))}
    </>
  );
}

interface CountdownProps {
  readonly until: string;
  /** The text before the remaining time, such as "ends in". */
  readonly prefix?: string;
}

/** The remaining time, counted down once a second. */
export function Countdown({ until, prefix = "in" }: CountdownProps) {
  const ms = Date.parse(until);
  if (Number.isNaN(ms)) return null;
  const left = ms - clock.value;
  return (
    <time class="number" dateTime={until} title={`${formatLocal(ms, clock.peek())} · ${formatUtc(ms)}`}>
      {left > 0 ? `${prefix} ${formatCountdown(left)}` : "any moment"}
    </time>
  );
}

/** The time between two moments, or until now. */
export function Duration({ from, to }: { readonly from: string | undefined; readonly to?: string | undefined }) {
  if (from === undefined) return <span class="muted">–</span>;
  const end = to === undefined ? clock.value : Date.parse(to);
  return <span class="number">{formatDuration(end - Date.parse(from))}</span>;
}
