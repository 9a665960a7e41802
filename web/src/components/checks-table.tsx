import type { PolicyCheck } from "../../../src/console/wire.ts";
import { Badge } from "./badge.tsx";
import { Countdown, Sentence } from "./time.tsx";

/** Every check of a decision, in the order of the policy. The first one that fails decides. */
export function ChecksTable({
  checks,
  caption,
}: {
  readonly checks: readonly PolicyCheck[];
  readonly caption: string;
}) {
  // Most decisions pass all checks, and then nothing has to clear.
  const hasClears = checks.some(({ passed }) => !passed);
  return (
    <table class="checks">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Check</th>
          <th scope="col">Evidence</th>
          {hasClears && <th scope="col">Clears</th>}
        </tr>
      </thead>
      <tbody>
        {checks.map((check) => (
          <tr key={check.name} data-deciding={check.isDeciding || undefined}>
            <th scope="row">
              <span
                class="check-mark"
                data-tone={checkTone(check)}
                role="img"
                aria-label={check.passed ? "passed" : "not passed"}
              >
                {check.passed ? "✓" : "✕"}
              </span>
              {check.name}
              {check.isDeciding && <Badge tone="bad" text="decides" />}
            </th>
            <td>
              <Sentence text={check.evidence} />
            </td>
            {hasClears && (
              <td class="checks-clears">
                <Clears check={check} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function checkTone({ passed, isDeciding }: PolicyCheck) {
  if (passed) return "good";
  return isDeciding ? "bad" : "wait";
}

function Clears({ check }: { readonly check: PolicyCheck }) {
  if (check.passed) return null;
  if (check.clearsAt === undefined) return <Sentence text={check.clears ?? ""} />;
  return <Countdown until={check.clearsAt} />;
}
