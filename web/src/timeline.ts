import type { TimelineEvent } from "../../src/console/wire.ts";

/** A part of time, in milliseconds. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export const timelineLanes = [
  "signals",
  "decisions",
  "runs",
  "operators",
  "pauses",
] as const satisfies readonly TimelineEvent["lane"][];

const minRangeMs = 10_000;

/** All events with some room around them, and up to the present. */
export function fullRange(events: readonly TimelineEvent[], now: number): TimeRange {
  const times = events.flatMap(({ at, until }) => [Date.parse(at), until === undefined ? now : Date.parse(until)]);
  const from = times.reduce((a, b) => Math.min(a, b), now - 60_000);
  const to = times.reduce((a, b) => Math.max(a, b), now);
  const room = (to - from) * 0.03;
  return { from: from - room, to: to + room };
}

/** The range scaled by `factor` around a point of it, from 0 (its start) to 1. Never wider than `limits`. */
export function zoomRange(range: TimeRange, factor: number, point: number, limits: TimeRange): TimeRange {
  const length = Math.min(Math.max((range.to - range.from) * factor, minRangeMs), limits.to - limits.from);
  const at = range.from + (range.to - range.from) * point;
  return keepWithin({ from: at - length * point, to: at + length * (1 - point) }, limits);
}

/** The range moved by a fraction of its length. */
export function panRange(range: TimeRange, share: number, limits: TimeRange): TimeRange {
  const distance = (range.to - range.from) * share;
  return keepWithin({ from: range.from + distance, to: range.to + distance }, limits);
}

function keepWithin({ from, to }: TimeRange, limits: TimeRange): TimeRange {
  const length = to - from;
  if (from < limits.from) return { from: limits.from, to: limits.from + length };
  if (to > limits.to) return { from: limits.to - length, to: limits.to };
  return { from, to };
}

/** The horizontal position of a time in a picture of `width`. */
export function toX(at: number, range: TimeRange, width: number): number {
  return ((at - range.from) / (range.to - range.from)) * width;
}

const steps = [1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000];

/** Round times in the range, at least `minGap` apart in a picture of `width`. `offsetMs` is that of the time zone. */
export function ticks(range: TimeRange, width: number, minGap: number, offsetMs = 0): readonly number[] {
  const minStep = ((range.to - range.from) / Math.max(width, 1)) * minGap;
  const step = (steps.find((seconds) => seconds * 1_000 >= minStep) ?? 31_536_000) * 1_000;
  const found: number[] = [];
  const first = Math.ceil((range.from + offsetMs) / step) * step - offsetMs;
  for (let at = first; at <= range.to; at += step) found.push(at);
  return found;
}

/** A shape for one event, or for several that would overlap. */
export interface Mark {
  readonly x: number;
  /** 0 for a moment. */
  readonly width: number;
  /** Overlapping spans are in different rows. */
  readonly row: number;
  readonly tone: TimelineEvent["tone"];
  readonly events: readonly TimelineEvent[];
}

interface MarkOptions {
  readonly range: TimeRange;
  readonly width: number;
  readonly now: number;
}

/** The minimum distance of two points, in pixels. */
const pointSize = 10;
const minSpanWidth = 4;
const maxRows = 3;

/** The marks of one lane. Moments that are close together become one mark; overlapping spans are stacked. */
export function layoutMarks(events: readonly TimelineEvent[], { range, width, now }: MarkOptions): readonly Mark[] {
  const visible = events.filter((event) => endOf(event, now) >= range.from && Date.parse(event.at) <= range.to);
  const moments = visible.filter(({ until, lane }) => until === undefined && !hasDuration(lane));
  const spans = visible.filter(({ until, lane }) => until !== undefined || hasDuration(lane));
  return [...clusterMoments(moments, range, width), ...stackSpans(spans, { range, width, now })];
}

/** In these lanes, an event without an end continues. */
function hasDuration(lane: TimelineEvent["lane"]): boolean {
  return lane === "runs" || lane === "pauses";
}

function endOf(event: TimelineEvent, now: number): number {
  if (event.until !== undefined) return Date.parse(event.until);
  return hasDuration(event.lane) ? now : Date.parse(event.at);
}

function clusterMoments(events: readonly TimelineEvent[], range: TimeRange, width: number): readonly Mark[] {
  const marks: Mark[] = [];
  for (const event of events.toSorted(compareTimes)) {
    const x = toX(Date.parse(event.at), range, width);
    const last = marks.at(-1);
    if (last && x - last.x < pointSize) {
      marks[marks.length - 1] = { ...last, tone: worstTone(last.tone, event.tone), events: [...last.events, event] };
    } else {
      marks.push({ x, width: 0, row: 0, tone: event.tone, events: [event] });
    }
  }
  return marks;
}

function stackSpans(events: readonly TimelineEvent[], { range, width, now }: MarkOptions): readonly Mark[] {
  const ends: number[] = [];
  return events.toSorted(compareTimes).map((event) => {
    const x = Math.max(0, toX(Date.parse(event.at), range, width));
    const end = Math.min(width, toX(endOf(event, now), range, width));
    const free = ends.findIndex((taken) => taken <= x);
    const row = free === -1 ? Math.min(ends.length, maxRows - 1) : free;
    const spanWidth = Math.max(end - x, minSpanWidth);
    ends[row] = Math.max(ends[row] ?? 0, x + spanWidth + 2);
    return { x, width: spanWidth, row, tone: event.tone, events: [event] };
  });
}

function compareTimes(a: TimelineEvent, b: TimelineEvent): number {
  return Date.parse(a.at) - Date.parse(b.at);
}

const tones = ["bad", "wait", "good", "neutral"] as const;

function worstTone(a: TimelineEvent["tone"], b: TimelineEvent["tone"]): TimelineEvent["tone"] {
  return tones[Math.min(tones.indexOf(a), tones.indexOf(b))] ?? a;
}

/** A number of signals at one time. */
export interface TimedCount {
  readonly at: number;
  readonly count: number;
}

/** The sum of `points` in each of `count` equal parts of the range. */
export function countByTime(
  points: readonly TimedCount[],
  range: TimeRange,
  count: number,
): { readonly starts: readonly number[]; readonly counts: readonly number[] } {
  const length = (range.to - range.from) / count;
  const counts = Array.from({ length: count }, () => 0);
  for (const { at, count: added } of points) {
    const index = Math.min(count - 1, Math.floor((at - range.from) / length));
    if (index >= 0 && at <= range.to) counts[index] = (counts[index] ?? 0) + added;
  }
  return { starts: counts.map((_, index) => range.from + index * length), counts };
}
