import type { RemediationRequest } from "../resources/index.ts";

/** What became of a signal. */
export type Admission =
  | { readonly kind: "created"; readonly fingerprint: string; readonly incident: RemediationRequest }
  | { readonly kind: "counted"; readonly fingerprint: string; readonly incident: RemediationRequest }
  /** All that was reported under this fingerprint is over. */
  | { readonly kind: "resolved"; readonly fingerprint: string; readonly incident: RemediationRequest }
  /** This series is over, and so many others are not. */
  | {
      readonly kind: "still-firing";
      readonly fingerprint: string;
      readonly incident: RemediationRequest;
      readonly others: number;
    }
  /** Nobody has put the object in scope. */
  | { readonly kind: "refused"; readonly fingerprint: string; readonly because: string; readonly fix: string }
  /** There is nothing to do about it, now or later. */
  | { readonly kind: "ignored"; readonly fingerprint: string; readonly because: string }
  /** It cannot be admitted as it is. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export const admissionKinds = [
  "created",
  "counted",
  "resolved",
  "still-firing",
  "refused",
  "ignored",
  "invalid",
] as const satisfies readonly Admission["kind"][];
