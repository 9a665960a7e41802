import type { Storm } from "../../src/console/wire.ts";
import type { Tone } from "./tones.ts";

/** One line of the funnel: a stage that signals reach, or the part that is absorbed before the next stage. */
export interface FunnelStep {
  readonly kind: "stage" | "absorbed";
  readonly label: string;
  readonly meaning: string;
  readonly tone: Tone;
  readonly count: number;
  /** The share of the stage before it; only of absorbed parts. */
  readonly share?: { readonly value: number; readonly of: string };
  /** Relative to the longest bar, from 0 to 1. */
  readonly width: number;
}

/** The lines of the funnel, from signals to runs. */
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
    stage("Signals", "neutral", signals, "Reports from senders"),
    absorbed("Deduplicated", deduplicated, ["signals", signals], "Reports of an incident that was already open"),
    stage("Incidents", "wait", incidents, "New problems"),
    absorbed("Followed", followed, ["incidents", incidents], "Another incident's run acts on the target"),
    absorbed("Cooling down", coolingDown, ["incidents", incidents], "The target was remediated a short time ago"),
    absorbed("Otherwise blocked", otherwiseBlocked, ["incidents", incidents], "Paused, refused, or without a rule"),
    absorbed("Waiting", waiting, ["incidents", incidents], "For an approval, or not decided yet"),
    stage("Runs", "active", runs, "Workflows that acted on a target"),
  ];
}

/** "97%". Only a share of exactly all or nothing is shown as 100% or 0%. */
export function formatShare(value: number): string {
  if (value > 0 && value < 0.01) return "<1%";
  if (value < 1 && value > 0.99) return ">99%";
  return `${Math.round(value * 100)}%`;
}
