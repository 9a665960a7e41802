import type { ComponentChildren } from "preact";
import type { ProblemDocument } from "../../../src/console/wire.ts";

interface ProblemNoticeProps {
  readonly problem: ProblemDocument;
  readonly children?: ComponentChildren;
}

/** An error response of the server, and what to do about it. */
export function ProblemNotice({ problem: { detail, problems = [], hint }, children }: ProblemNoticeProps) {
  return (
    <div class="notice" data-tone="bad" role="alert">
      <p>{detail}</p>
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {hint !== undefined && <p class="muted">{hint}</p>}
      {children}
    </div>
  );
}
