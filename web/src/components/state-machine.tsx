import { useLayoutEffect, useRef } from "preact/hooks";
import { phaseTone } from "../tones.ts";

interface State {
  readonly phase: string;
  readonly x: number;
  readonly y: number;
}

const size = { width: 760, height: 150 };
const box = { width: 118, height: 34 };

/** The way of an incident: the straight path above, what interrupts it below. */
const states: readonly State[] = [
  { phase: "Pending", x: 62, y: 42 },
  { phase: "Analyzing", x: 220, y: 42 },
  { phase: "Executing", x: 378, y: 42 },
  { phase: "Verifying", x: 536, y: 42 },
  { phase: "Completed", x: 694, y: 42 },
  { phase: "Withdrawn", x: 62, y: 122 },
  { phase: "Blocked", x: 220, y: 122 },
  { phase: "AwaitingApproval", x: 378, y: 122 },
  { phase: "Failed", x: 536, y: 122 },
];

/** Drawn by hand: they cross nothing. */
const ways = [
  "M121 42H157",
  "M279 42H315",
  "M437 42H473",
  "M595 42H631",
  "M212 59V101",
  "M228 105V63",
  "M258 59L318 103",
  "M340 105L280 61",
  "M161 122H125",
  "M437 122H473",
  "M412 59L486 102",
  "M378 25V12H220V21",
  "M536 25V12H378",
];

/** The states that an incident can be in, with the one that it is in. */
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
            marker-end={way === "M536 25V12H378" ? undefined : "url(#arrow)"}
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
