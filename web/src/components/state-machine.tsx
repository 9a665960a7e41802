import { useLayoutEffect, useRef } from "preact/hooks";
import { phaseTone } from "../tones.ts";

interface State {
  readonly phase: string;
  readonly x: number;
  readonly y: number;
}

const size = { width: 800, height: 150 };
const box = { width: 134, height: 34 };

/** The phases of an incident: the path to success above, interruptions below. */
const states: readonly State[] = [
  { phase: "Pending", x: 70, y: 42 },
  { phase: "Analyzing", x: 235, y: 42 },
  { phase: "Executing", x: 400, y: 42 },
  { phase: "Verifying", x: 565, y: 42 },
  { phase: "Completed", x: 730, y: 42 },
  { phase: "Withdrawn", x: 70, y: 122 },
  { phase: "Blocked", x: 235, y: 122 },
  { phase: "AwaitingApproval", x: 400, y: 122 },
  { phase: "Failed", x: 565, y: 122 },
];

/** The transitions, laid out so that no two cross. */
const ways = [
  "M137 42H164",
  "M302 42H329",
  "M467 42H494",
  "M632 42H659",
  "M227 59V101",
  "M243 105V63",
  "M275 59L337 102",
  "M357 105L297 62",
  "M168 122H141",
  "M467 122H494",
  "M434 59L516 102",
  "M400 25V12H235V21",
  "M565 25V12H400",
];

/** All phases of an incident, with the current one highlighted. */
export function StateMachine({ phase }: { readonly phase: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = place;
    const state = states.find((one) => one.phase === phase);
    // On a phone only a part of the picture is visible.
    if (current && state) current.scrollLeft = (state.x / size.width) * current.scrollWidth - current.clientWidth / 2;
  }, [phase]);
  return (
    <div ref={place} class="scroll-x">
      <svg
        class="machine"
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-label={`The incident is ${phase}`}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="6"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 0.5 7 4 0 7.5Z" class="machine-arrow" />
          </marker>
        </defs>
        {ways.map((way) => (
          <path
            key={way}
            d={way}
            class="machine-way"
            marker-end={way === "M565 25V12H400" ? undefined : "url(#arrow)"}
          />
        ))}
        {states.map((state) => (
          <g
            key={state.phase}
            class="machine-state"
            data-tone={phaseTone(state.phase)}
            data-current={state.phase === phase || undefined}
          >
            <rect
              x={state.x - box.width / 2}
              y={state.y - box.height / 2}
              width={box.width}
              height={box.height}
              rx={7}
            />
            <text x={state.x} y={state.y + 4.5}>
              {state.phase === "AwaitingApproval" ? "Awaiting approval" : state.phase}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}
