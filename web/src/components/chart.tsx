import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { axisTop, formatCount, formatTick } from "../format.ts";
import { isDark } from "../theme.ts";
import type { Tone } from "../tones.ts";

interface ChartProps {
  /** For screen readers. The numbers are in a table or in text beside the chart. */
  readonly label: string;
  readonly tone: Tone;
  /** The starts of the bars, in milliseconds and equally far apart. */
  readonly times: readonly number[];
  readonly values: readonly number[];
  readonly height?: number;
}

/** Values over time, as bars. The library for charts is loaded with the first one. */
export function Chart({ label, tone, times, values, height = 160 }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const isShownDark = isDark.value;
  // The colours of the theme are read from the style sheet.
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let plot: uPlot | undefined;
    let isGone = false;
    const resize = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    void import("uplot").then(({ default: UPlot }) => {
      if (isGone) return;
      plot = new UPlot(chartOptions(UPlot, element, { tone, times, height }), chartData(times, values), element);
      resize.observe(element);
    });
    return () => {
      isGone = true;
      resize.disconnect();
      plot?.destroy();
    };
  }, [tone, times, values, height, isShownDark]);
  return <div ref={place} class="chart" role="img" aria-label={label} style={{ height: `${height}px` }} />;
}

function chartData(times: readonly number[], values: readonly number[]): uPlot.AlignedData {
  // A bar is drawn around the middle between its start and the next one.
  return [times.map((time) => (time + barLength(times) / 2) / 1_000), [...values]];
}

function barLength([first = 0, second = first]: readonly number[]): number {
  return second - first;
}

function chartOptions(
  UPlot: typeof uPlot,
  element: HTMLElement,
  { tone, times, height }: Required<Pick<ChartProps, "tone" | "times" | "height">>,
): uPlot.Options {
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: color("--text-muted"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: () => [from / 1_000, (to + barLength(times)) / 1_000] },
      y: { range: (_plot, _min, max) => [0, axisTop(max)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        // Room for a time with seconds.
        space: 56,
        values: (_plot, times) => times.map((time) => formatTick(time * 1_000)),
      },
      {
        ...axis,
        size: 44,
        splits: (_plot, _axis, min, max) => (Number.isInteger(max / 2) ? [min, max / 2, max] : [min, max]),
        values: (_plot, counts) => counts.map(formatCount),
      },
    ],
    series: [
      {},
      {
        stroke: color(`--bar-${tone}`),
        fill: color(`--bar-${tone}`),
        width: 0,
        points: { show: false },
        paths: UPlot.paths.bars?.({ size: [0.8, 24] }) ?? (() => null),
      },
    ],
  };
}
