import type { KubeObject } from "../../kube/index.ts";

/** A column of the table that `kubectl get` prints. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  cell(object: KubeObject, nowMs: number): unknown;
}

/** `Name`, which every table begins with. */
export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a " +
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation " +
    "idempotence and configuration definition. Cannot be updated. More info: " +
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  priority: 0,
  cell: ({ metadata }) => metadata.name ?? "",
};

const creationDescription =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed " +
  "to be set in happens-before order across separate operations. Clients may not set this value. It is represented in " +
  "RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: " +
  "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/** `Age`: built-in kinds call it a string, custom resources a date; both show the same. */
export function ageColumn(type: "string" | "date"): Column {
  return {
    name: "Age",
    type,
    format: "",
    description: creationDescription,
    priority: 0,
    cell: ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs) ?? "<unknown>",
  };
}

/** When a definition was made: shown as a time, not as an age. */
export const createdAtColumn: Column = {
  name: "Created At",
  type: "date",
  format: "",
  description: creationDescription,
  priority: 0,
  cell: ({ metadata }) => metadata.creationTimestamp ?? "",
};

export function textColumn(
  name: string,
  cell: (object: KubeObject, nowMs: number) => unknown,
  { description, priority = 0 }: { description: string; priority?: number },
): Column {
  return { name, type: "string", format: "", description, priority, cell };
}

/** How long ago `time` was, as kubectl writes it: `45s`, `3m20s`, `5d`. Undefined without a time. */
export function age(time: unknown, nowMs: number): string | undefined {
  if (typeof time !== "string" || !time) return undefined;
  const ms = nowMs - Date.parse(time);
  return Number.isNaN(ms) ? "<invalid>" : humanDuration(Math.floor(ms / 1_000));
}

function humanDuration(seconds: number): string {
  if (seconds < -1) return "<invalid>";
  const s = Math.max(0, seconds);
  const [m, h, d, y] = [Math.floor(s / 60), Math.floor(s / 3_600), Math.floor(s / 86_400), Math.floor(s / 31_536_000)];
  const and = (large: string, rest: number, unit: string) => (rest === 0 ? large : `${large}${rest}${unit}`);
  if (s < 120) return `${s}s`;
  if (m < 10) return and(`${m}m`, s % 60, "s");
  if (m < 180) return `${m}m`;
  if (h < 8) return and(`${h}h`, m % 60, "m");
  if (h < 48) return `${h}h`;
  if (h < 192) return and(`${d}d`, h % 24, "h");
  if (d < 730) return `${d}d`;
  if (d < 2_920) return and(`${y}y`, d % 365, "d");
  return `${y}y`;
}
