import type { ApprovalDetail } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { useDetail } from "../live/use-live.ts";
import { Facts } from "./panel.tsx";
import { ProblemNotice } from "./problem-notice.tsx";
import { Countdown, Sentence } from "./time.tsx";

/** What an answer decides on: the parameters of the workflow, and why it was chosen. `of` is NAMESPACE/NAME. */
export function ApprovalFacts({ of }: { readonly of: string }) {
  const { value, problem } = useDetail<ApprovalDetail>(objectPath("approvals", of), ({ changed }) =>
    changed.some(({ key, kind }) => kind === "approvals" && key === of),
  );
  if (!value)
    return problem === undefined ? <p class="muted">Reading the approval…</p> : <ProblemNotice problem={problem} />;
  const { row, rationale, whyRequired, summary, parameters } = value;
  const given = Object.entries(parameters);
  return (
    <Facts
      facts={[
        ["Chosen because", rationale !== undefined && <Sentence text={rationale} />],
        ["Cause", summary !== undefined && <Sentence text={summary} />],
        ["Approval because", <Sentence text={whyRequired} />],
        ["Expires", row.decision === undefined && <Countdown until={row.requiredBy} />],
        ...given.map(([name, text]) => [name, <code>{text}</code>] as const),
        ["Parameters", given.length === 0 && "none"],
      ]}
    />
  );
}
