import type { Storm } from "../../src/console/wire.ts";
import type { Tone } from "./tones.ts";

/** One line of the funnel: a stage that signals reach, or a part that goes no further. */
export interface FunnelStep {
  readonly kind: "stage" | "absorbed";
  readonly label: string;
  readonly meaning: string;
  readonly tone: Tone;
  readonly count: number;
  /** Of the stage before it; a stage of its own has none. */
  readonly share?: { readonly value: number; readonly of: string };
  /** Of the longest bar, from 0 to 1. */
  readonly width: number;
}

/** What became of the signals, from the first stage to the last. */
export function funnelSteps(totals: Storm["totals"]): readonly FunnelStep[] {
  const { signals, deduplicated, incidents, followed, coolingDown, otherwiseBlocked, waiting, runs } = totals;
  const longest = Math.max(1, signals, incidents, runs);
  const stage = (label: string, tone: Tone, count: number, meaning: string): FunnelStep => ({
    kind: "stage",
    label,
    meaning,
    tone,
    count,
    width: count / longest,
  });
  const absorbed = (label: string, count: number, [of, total]: readonly [string, number], meaning: string) => ({
    kind: "absorbed" as const,
    label,
    meaning,
    tone: "neutral" as const,
    count,
    ...(total > 0 && { share: { value: count / total, of } }),
    width: count / longest,
  });
  return [
    stage("Signals", "neutral", signals, "Reports that senders delivered"),
    absorbed("Deduplicated", deduplicated, ["signals", signals], "Reports of a problem that was known already"),
    stage("Incidents", "wait", incidents, "Problems that were opened"),
    absorbed("Followed", followed, ["incidents", incidents], "Another incident's run acts on the target"),
    absorbed("Cooling down", coolingDown, ["incidents", incidents], "The target was remediated a short time ago"),
    absorbed("Otherwise blocked", otherwiseBlocked, ["incidents", incidents], "Paused, refused, or without a rule"),
    absorbed("Waiting", waiting, ["incidents", incidents], "For an approval, or not decided yet"),
    stage("Runs", "active", runs, "Workflows that acted on a target"),
  ];
}

/** "97%"; a share that is not all or nothing is never shown as 100% or 0%. */
export function formatShare(value: number): string {
  if (value > 0 && value < 0.01) return "<1%";
  if (value < 1 && value > 0.99) return ">99%";
  return `${Math.round(value * 100)}%`;
}
