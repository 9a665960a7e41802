import type { FailureDetails, SkipReason } from "../resources/index.ts";

/** Something that people should be able to see: in the log, as a Kubernetes Event, in a notice, in a metric. */
export type Announcement =
  | { readonly kind: "pending" }
  | { readonly kind: "admitted" }
  | { readonly kind: "skipped"; readonly reason: SkipReason; readonly message: string }
  | { readonly kind: "run-created"; readonly runName: string }
  | { readonly kind: "started" }
  | { readonly kind: "completed"; readonly durationMs: number }
  | { readonly kind: "failed"; readonly details: FailureDetails; readonly durationMs: number | undefined }
  | { readonly kind: "freed" }
  | { readonly kind: "run-removed"; readonly runName: string }
  | { readonly kind: "acknowledged"; readonly by: string; readonly reason: string }
  | { readonly kind: "blocked-by-run"; readonly why: string }
  | { readonly kind: "cleanup-failed"; readonly why: string };
