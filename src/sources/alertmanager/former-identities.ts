import type { FormerIdentity } from "../../resources/index.ts";
import { formerSubject } from "./former-subject.ts";
import { type Labels, monitoringSums, type Reporter } from "./reporters.ts";
import { findSubject, type SubjectFinding } from "./subject.ts";

export interface FormerOptions {
  readonly annotations: Labels;
  /** The table of label provenance. */
  readonly rows: readonly Reporter[];
  /** Whether the first version read such alerts. */
  readonly isFormer: boolean;
}

/**
 * The identities that earlier versions gave an alert with `finding`, the latest first. Incidents that were opened with them
 * are found by them until they are closed, so their results must not change.
 */
export function formerIdentities(finding: SubjectFinding, labels: Labels, options: FormerOptions): FormerIdentity[] {
  const second = secondVersionIdentity(finding, labels, options);
  const first = options.isFormer ? formerSubject(labels, options.annotations) : undefined;
  const all = [...(second ? [second] : []), ...(first ? [{ version: "1", subject: first }] : [])];
  return all.filter((one) => !isSameIdentity(one, finding, labels));
}

function secondVersionIdentity(
  finding: SubjectFinding,
  labels: Labels,
  { annotations, rows }: FormerOptions,
): FormerIdentity | undefined {
  if (finding.kind !== "none" || finding.because !== monitoringSums.otherwise) return undefined;
  const before = findSubject(
    labels,
    annotations,
    rows.filter((row) => row !== monitoringSums),
  );
  if (before.kind !== "object") return undefined;
  const { subject, distinctBy } = before;
  return { version: "2", subject, ...(distinctBy && { distinctBy }) };
}

function isSameIdentity(
  { subject, distinctBy = [] }: FormerIdentity,
  finding: SubjectFinding,
  labels: Labels,
): boolean {
  if (finding.kind !== "object") return false;
  const { subject: now, distinctBy: distinctNow = [] } = finding;
  const isSameSubject = subject.kind === now.kind && subject.name === now.name && subject.namespace === now.namespace;
  const present = (names: readonly string[]) => names.filter((name) => labels[name]).join();
  return isSameSubject && present(distinctBy) === present(distinctNow);
}
