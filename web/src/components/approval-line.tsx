import type { ApprovalRow } from "../../../src/console/wire.ts";
import { ApprovalFacts } from "./approval-facts.tsx";
import { Link, TargetLink } from "./link.tsx";
import { OperationButton } from "./operation-button.tsx";
import { Countdown, Sentence } from "./time.tsx";

/** A workflow that waits for an approval, with the buttons for both answers. */
export function ApprovalLine({ row }: { readonly row: ApprovalRow }) {
  return (
    <li class="line" data-tone="wait">
      <div class="line-main">
        <Link to="/approvals" class="line-title" isRow>
          {row.workflow}
        </Link>
        <span class="line-sub mono">{row.name}</span>
      </div>
      <div class="line-where">
        <TargetLink target={row.target} />
      </div>
      <div class="line-why">
        <span class="line-reason">AwaitingApproval</span>
        <span class="line-sub line-message" title={row.why}>
          <Sentence text={row.why} />
        </span>
      </div>
      <div class="line-when">
        <Countdown until={row.requiredBy} prefix="expires in" />
      </div>
      <div class="line-action">
        <ApprovalAnswers row={row} isPrimary />
      </div>
    </li>
  );
}

/** The buttons for the two answers. */
export function ApprovalAnswers({
  row,
  isPrimary = false,
}: {
  readonly row: ApprovalRow;
  readonly isPrimary?: boolean;
}) {
  const dialog = { subject: `${row.workflow} on ${row.target}`, row, form: <ApprovalFacts of={row.key} /> };
  return (
    <>
      <OperationButton operation="approve" {...dialog} isPrimary={isPrimary} />
      <OperationButton operation="reject" {...dialog} />
    </>
  );
}
