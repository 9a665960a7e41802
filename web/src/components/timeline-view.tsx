import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TimelineEvent } from "../../../src/console/wire.ts";
import { formatLocal, formatQuantity, formatTick } from "../format.ts";
import { navigate } from "../router.ts";
import { clock } from "../time.ts";
import {
  fullRange,
  layoutMarks,
  type Mark,
  panRange,
  type TimeRange,
  ticks,
  timelineLanes,
  toX,
  zoomRange,
} from "../timeline.ts";
import { Badge } from "./badge.tsx";
import { Link } from "./link.tsx";
import { Sentence, Time } from "./time.tsx";

const laneTitles: Readonly<Record<TimelineEvent["lane"], string>> = {
  signals: "Signals",
  decisions: "Decisions",
  runs: "Runs",
  operators: "Operators",
  pauses: "Pauses",
};

const laneHeight = 44;
const axisHeight = 26;
const labelWidth = 84;
const maxListed = 200;

/** A timeline of all events. Buttons, dragging and Ctrl with the wheel change the shown period. */
export function TimelineView({ events, label }: { readonly events: readonly TimelineEvent[]; readonly label: string }) {
  const limits = fullRange(events, clock.peek());
  const [chosen, choose] = useState<TimeRange>();
  const range = chosen ?? limits;
  const zoom = (factor: number, point = 0.5) => choose(zoomRange(range, factor, point, limits));
  const pan = (share: number) => choose(panRange(range, share, limits));

  return (
    <>
      <div class="timeline-tools">
        <fieldset class="button-group" aria-label="Period of the timeline">
          <ToolButton label="Earlier" text="←" onClick={() => pan(-0.5)} />
          <ToolButton label="Zoom in" text="+" onClick={() => zoom(0.5)} />
          <ToolButton label="Zoom out" text="−" onClick={() => zoom(2)} />
          <ToolButton label="Later" text="→" onClick={() => pan(0.5)} />
        </fieldset>
        {[
          { text: "1 h", ms: 3_600_000 },
          { text: "6 h", ms: 21_600_000 },
          { text: "24 h", ms: 86_400_000 },
        ].map(({ text, ms }) => (
          <button
            key={text}
            type="button"
            class="button small quiet"
            onClick={() => choose(zoomRange({ from: limits.to - ms, to: limits.to }, 1, 1, limits))}
          >
            Last {text}
          </button>
        ))}
        <button type="button" class="button small quiet" onClick={() => choose(undefined)}>
          All
        </button>
        <span class="muted timeline-range">
          {formatLocal(range.from, clock.peek())} – {formatLocal(range.to, clock.peek())}
        </span>
      </div>
      <TimelinePicture events={events} range={range} label={label} onZoom={zoom} onPan={pan} />
      <EventList events={events} range={range} />
    </>
  );
}

function ToolButton({
  label,
  text,
  onClick,
}: {
  readonly label: string;
  readonly text: string;
  readonly onClick: () => void;
}) {
  return (
    <button type="button" class="button small" aria-label={label} title={label} onClick={onClick}>
      {text}
    </button>
  );
}

interface PictureProps {
  readonly events: readonly TimelineEvent[];
  readonly range: TimeRange;
  readonly label: string;
  readonly onZoom: (factor: number, point?: number) => void;
  readonly onPan: (share: number) => void;
}

function TimelinePicture({ events, range, label, onZoom, onPan }: PictureProps) {
  const picture = useRef<SVGSVGElement>(null);
  const width = useWidth(picture);
  const inner = Math.max(width - labelWidth, 100);
  const now = clock.peek();
  const lanes = timelineLanes.filter((lane) => events.some((event) => event.lane === lane));
  const height = lanes.length * laneHeight + axisHeight;
  useZoomAndPan(picture, { inner, onZoom, onPan });
  return (
    <svg
      ref={picture}
      class="timeline"
      role="img"
      aria-label={`${label}. The events are listed below.`}
      height={height}
      viewBox={`0 0 ${inner + labelWidth} ${height}`}
    >
      {ticks(range, inner, 110, -new Date(now).getTimezoneOffset() * 60_000).map((at) => (
        <Tick key={at} at={at} x={toX(at, range, inner)} inner={inner} bottom={height - axisHeight} />
      ))}
      {lanes.map((lane, index) => (
        <g key={lane} transform={`translate(0 ${index * laneHeight})`}>
          <path class="timeline-line" d={`M0 ${laneHeight}H${inner + labelWidth}`} />
          <text class="timeline-label" x={0} y={laneHeight / 2 + 5}>
            {laneTitles[lane]}
          </text>
          <g transform={`translate(${labelWidth} 0)`}>
            <LaneMarks
              marks={layoutMarks(
                events.filter((event) => event.lane === lane),
                { range, width: inner, now },
              )}
            />
          </g>
        </g>
      ))}
      <path class="timeline-now" d={`M${labelWidth + toX(now, range, inner)} 0V${height - axisHeight}`} />
    </svg>
  );
}

interface TickProps {
  readonly at: number;
  readonly x: number;
  readonly inner: number;
  /** Where the lanes end and the axis begins. */
  readonly bottom: number;
}

function Tick({ at, x, inner, bottom }: TickProps) {
  return (
    <g class="timeline-tick">
      <path d={`M${labelWidth + x} 0V${bottom}`} />
      {/* A time at the very end would be cut off. */}
      {x < inner - 30 && (
        <text x={labelWidth + x} y={bottom + axisHeight - 8}>
          {formatTick(at)}
        </text>
      )}
    </g>
  );
}

/** The width of an element, followed while it changes. */
function useWidth(element: { readonly current: SVGSVGElement | null }): number {
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

interface Movement {
  readonly inner: number;
  readonly onZoom: (factor: number, point?: number) => void;
  readonly onPan: (share: number) => void;
}

/** Dragging moves the timeline, and Ctrl with the wheel zooms it; the wheel alone scrolls the page as everywhere. */
function useZoomAndPan(element: { readonly current: SVGSVGElement | null }, movement: Movement): void {
  const latest = useRef(movement);
  latest.current = movement;
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { inner, onZoom } = latest.current;
      const x = event.clientX - current.getBoundingClientRect().left - labelWidth;
      onZoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, x / inner)));
    };
    const onMove = (event: PointerEvent) => {
      if (event.buttons !== 1 || event.movementX === 0) return;
      latest.current.onPan(-event.movementX / latest.current.inner);
    };
    current.addEventListener("wheel", onWheel, { passive: false });
    current.addEventListener("pointermove", onMove);
    return () => {
      current.removeEventListener("wheel", onWheel);
      current.removeEventListener("pointermove", onMove);
    };
  }, [element]);
}

const spanHeight = 10;
const spanGap = 2;

/** Spans are centred in their lane, in one or several rows. */
function LaneMarks({ marks }: { readonly marks: readonly Mark[] }) {
  const rows = Math.max(0, ...marks.map(({ row }) => row)) + 1;
  const top = (laneHeight - rows * (spanHeight + spanGap) + spanGap) / 2;
  return (
    <>
      {marks.map((mark) => (
        <MarkShape key={`${mark.x} ${mark.row}`} mark={mark} y={top + mark.row * (spanHeight + spanGap)} />
      ))}
    </>
  );
}

function MarkShape({ mark, y }: { readonly mark: Mark; readonly y: number }) {
  const { x, width, tone, events } = mark;
  const title =
    events.length === 1
      ? `${events[0]?.title ?? ""}${events[0]?.detail ? `: ${events[0].detail}` : ""}`
      : `${events.length} events`;
  const link = events.length === 1 ? events[0]?.link : undefined;
  const open = link === undefined ? undefined : () => navigate(link);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the list below has the same links for the keyboard.
    <g class="mark" data-tone={tone} data-link={link !== undefined || undefined} onClick={open}>
      <title>{title}</title>
      {width > 0 ? (
        <rect x={x} y={y} width={width} height={spanHeight} rx={3} />
      ) : (
        <circle cx={x} cy={laneHeight / 2} r={events.length > 1 ? 8 : 5} />
      )}
      {events.length > 1 && (
        <text x={x} y={laneHeight / 2 + 3.5}>
          {events.length > 99 ? "99+" : events.length}
        </text>
      )}
    </g>
  );
}

/** The events of the shown period, newest first. */
function EventList({ events, range }: { readonly events: readonly TimelineEvent[]; readonly range: TimeRange }) {
  const visible = events
    .filter(({ at, until }) => Date.parse(until ?? at) >= range.from && Date.parse(at) <= range.to)
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return (
    <details class="event-list" open>
      <summary>
        {formatQuantity(visible.length, "event")} in this period
        {visible.length > maxListed && `, the newest ${maxListed} are listed`}
      </summary>
      <ul class="events">
        {visible.slice(0, maxListed).map((event, index) => (
          <li key={`${event.at} ${event.title} ${index}`} class="event">
            <Time at={event.at} />
            <Badge tone={event.tone} text={laneTitles[event.lane]} />
            <span class="grow">
              {event.link === undefined ? (
                <span class="strong">{event.title}</span>
              ) : (
                <Link to={event.link}>{event.title}</Link>
              )}
              {event.detail !== undefined && (
                <span class="muted">
                  {" "}
                  <Sentence text={event.detail} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
