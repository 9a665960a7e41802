import type { RemediationRequest } from "../resources/index.ts";

/** The outcome of a signal. */
export type Admission =
  | { readonly kind: "created"; readonly fingerprint: string; readonly incident: RemediationRequest }
  | { readonly kind: "counted"; readonly fingerprint: string; readonly incident: RemediationRequest }
  /** All series of the incident have ended. */
  | { readonly kind: "resolved"; readonly fingerprint: string; readonly incident: RemediationRequest }
  /** This series has ended; the number of `others` that still fire. */
  | {
      readonly kind: "still-firing";
      readonly fingerprint: string;
      readonly incident: RemediationRequest;
      readonly others: number;
    }
  /** The object is out of scope. */
  | { readonly kind: "refused"; readonly fingerprint: string; readonly because: string; readonly fix: string }
  /** The gateway lacks permission to read the object, so its owner and scope are unknown. */
  | { readonly kind: "forbidden"; readonly fingerprint: string; readonly because: string; readonly fix: string }
  /** The signal has no effect. */
  | { readonly kind: "ignored"; readonly fingerprint: string; readonly because: string }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export const admissionKinds = [
  "created",
  "counted",
  "resolved",
  "still-firing",
  "refused",
  "forbidden",
  "ignored",
  "invalid",
] as const satisfies readonly Admission["kind"][];

/** The effect that a signal would have. */
export type Preview =
  | {
      readonly kind: "created" | "counted" | "resolved" | "refused" | "forbidden" | "ignored";
      readonly fingerprint: string;
      /** The object that the signal names and its owner, in canonical form. Absent if it names none. */
      readonly subject?: string;
      readonly target?: string;
      /** The effect in one sentence, for display. */
      readonly message: string;
      readonly fix?: string;
      /** Name of the incident that it would be, or be counted on. */
      readonly incident?: string;
      /** The incident as this signal would open it. */
      readonly spec?: RemediationRequest["spec"];
    }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** The error of an admission whose outcome is unknown. */
export interface NotAdmitted {
  readonly kind: "failed";
  readonly error: unknown;
}
