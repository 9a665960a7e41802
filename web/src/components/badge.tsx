import { phaseTone, severityTone, type Tone } from "../tones.ts";

export function Badge({ tone, text }: { readonly tone: Tone; readonly text: string }) {
  return (
    <span class="badge" data-tone={tone}>
      {text}
    </span>
  );
}

export function Phase({ phase }: { readonly phase: string }) {
  return <Badge tone={phaseTone(phase)} text={phase} />;
}

/** A coloured bar before the text, visible at a glance in a long list. Many senders report no severity. */
export function Severity({ severity }: { readonly severity: string }) {
  if (severity === "unknown") return <span class="muted">–</span>;
  return (
    <span class="severity" data-tone={severityTone(severity)}>
      {severity}
    </span>
  );
}
