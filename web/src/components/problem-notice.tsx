import type { ProblemDocument } from "../../../src/console/wire.ts";

/** Why something could not be read, and what to do. */
export function ProblemNotice({ problem }: { readonly problem: ProblemDocument }) {
  return (
    <div class="notice" data-tone="bad" role="alert">
      <p>{problem.detail}</p>
      {problem.hint !== undefined && <p class="muted">{problem.hint}</p>}
    </div>
  );
}
