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

/** A bar before the text: it is seen in a long list without reading. Many senders report none. */
export function Severity({ severity }: { readonly severity: string }) {
  if (severity === "unknown") return <span class="muted">–</span>;
  return (
    <span class="severity" data-tone={severityTone(severity)}>
      {severity}
    </span>
  );
}
