/** Times and durations as text. All functions are pure: the current time is an argument, in milliseconds. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The two largest units of a duration: "<1s", "45s", "3m 20s", "2h 05m", "4d 03h". */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < second) return "<1s";
  const total = Math.max(0, Math.floor(ms / second));
  if (total < 60) return `${total}s`;
  if (total < 3_600) return `${Math.floor(total / 60)}m ${twoDigits(total % 60)}s`;
  if (total < 86_400) return `${Math.floor(total / 3_600)}h ${twoDigits(Math.floor((total % 3_600) / 60))}m`;
  return `${Math.floor(total / 86_400)}d ${twoDigits(Math.floor((total % 86_400) / 3_600))}h`;
}

/** The distance from `now` in its largest unit: "just now", "12s ago", "in 3m", "2d ago". */
export function formatRelative(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance < 2 * second) return "just now";
  const text = largestUnit(distance);
  return at > now ? `in ${text}` : `${text} ago`;
}

function largestUnit(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m`;
  if (ms < day) return `${Math.floor(ms / hour)}h`;
  return `${Math.floor(ms / day)}d`;
}

/** A remaining time that counts down to 0: "1:04", "12:00", "2:00:00", "3d 04h". */
export function formatCountdown(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / second));
  if (total >= 86_400) return formatDuration(total * second);
  const hours = Math.floor(total / 3_600);
  const minutes = Math.floor((total % 3_600) / 60);
  const seconds = twoDigits(total % 60);
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${seconds}` : `${minutes}:${seconds}`;
}

/** The local time: with the date unless it is today, and with the year unless it is this one. */
export function formatLocal(at: number, now: number, timeZone?: string): string {
  const day = formatter("day", timeZone);
  const time = formatter("time", timeZone).format(at);
  if (day.format(at) === day.format(now)) return time;
  const year = formatter("year", timeZone);
  const date = formatter(year.format(at) === year.format(now) ? "date" : "dateAndYear", timeZone);
  return `${date.format(at)}, ${time}`;
}

/** A local time on an axis: "18:08", "18:08:20", and the date at midnight: "17 Nov". */
export function formatTick(at: number, timeZone?: string): string {
  const time = formatter("time", timeZone).format(at);
  return time === "00:00:00" ? formatter("date", timeZone).format(at) : time.replace(/:00$/, "");
}

/** The round number at the top of an axis for counts up to `max`: 1, 2, 5, 10, 20, 40, 50, 100 and so on. */
export function axisTop(max: number): number {
  if (max <= 2) return Math.max(1, Math.ceil(max));
  const power = 10 ** Math.floor(Math.log10(max / 2));
  const half = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= max / 2) ?? max;
  return Math.ceil(max / half) * half;
}

/** "2026-11-16 18:08:20 UTC" */
export function formatUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A length of whole units: "90 seconds", "1 minute", "2 hours". */
export function formatPeriod(seconds: number): string {
  if (seconds % 3_600 === 0) return formatQuantity(seconds / 3_600, "hour");
  if (seconds % 60 === 0) return formatQuantity(seconds / 60, "minute");
  return formatQuantity(seconds, "second");
}

/** "1 line", "1,234 lines" */
export function formatQuantity(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The name in NAMESPACE/NAME, with its hash cut as the command line prints it. */
export function shortName(key: string): string {
  return shortNames(key.slice(key.indexOf("/") + 1));
}

/** A text with the hashes of names cut as the command line prints them. */
export function shortNames(text: string): string {
  return text.replace(/\b((?:[a-z]+-)?[0-9a-v]{8})[0-9a-v]{44}\b/g, "$1");
}

/** "1,234" */
export function formatCount(count: number): string {
  return count.toLocaleString("en-GB");
}

const styles = {
  day: { year: "numeric", month: "numeric", day: "numeric" },
  year: { year: "numeric" },
  date: { day: "numeric", month: "short" },
  dateAndYear: { day: "numeric", month: "short", year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** A formatter takes about 50 µs to make, and a page of 10,000 rows needs many. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(style: keyof typeof styles, timeZone = ""): Intl.DateTimeFormat {
  const key = `${style} ${timeZone}`;
  const known = formatters.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-GB", { ...styles[style], ...(timeZone && { timeZone }) });
  formatters.set(key, made);
  return made;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
