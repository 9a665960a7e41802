import { DiskError } from "../disk.ts";
import { ownerFile } from "../lock-directory.ts";

/**
 * The format of the files in a directory. It has version 1 without any migration, and one more version for each. A change
 * that an earlier version of Interlock would misread needs a migration; a change that it can read does not.
 */
export interface DirectoryFormat {
  readonly name: string;
  /** The first one brings version 1 to version 2, and so on. */
  readonly migrations: readonly Migration[];
}

/** Rewrites the files of `directory`, which is a copy. May be repeated from the beginning with a new copy. */
export type Migration = (directory: string) => Promise<void>;

/** The content of the file `format`. */
export interface FormatRecord {
  readonly version: number;
  /** Present while the files of this version take the place of those before. */
  readonly replacing?: Replacement;
}

export interface Replacement {
  /** `out`: the old files are moved to `kept`. `in`: the new ones are moved here from `work`. */
  readonly step: "out" | "in";
  readonly kept: string;
  readonly work: string;
}

/**
 * - `current`: nothing to do
 * - `stamp`: a directory without the file `format`, which becomes `version`
 * - `migrate`: run the migrations after the version `from`
 * - `resume`: the last process died while it replaced the files
 */
export type UpgradePlan =
  | { readonly kind: "current" }
  | { readonly kind: "stamp"; readonly version: number }
  | { readonly kind: "migrate"; readonly from: number }
  | { readonly kind: "resume"; readonly replacing: Replacement };

/** The file in a directory that has its format. */
export const formatFile = "format";

/** Versions before the file `format` existed wrote version 1. */
const unstampedVersion = 1;

export function currentVersion({ migrations }: DirectoryFormat): number {
  return migrations.length + 1;
}

/** The step that a directory needs before this version may use it. Throws DiskError `unsupported` if a newer one wrote it. */
export function planUpgrade(found: FoundFormat, format: DirectoryFormat): UpgradePlan {
  const current = currentVersion(format);
  const { record, isEmpty } = found;
  if (!record && isEmpty) return { kind: "stamp", version: current };
  const version = record?.version ?? unstampedVersion;
  if (version > current) throw newerFormat(found, format);
  // Not before the check above: a newer version has to finish its own replacement.
  if (record?.replacing) return { kind: "resume", replacing: record.replacing };
  if (version < current) return { kind: "migrate", from: version };
  return record ? { kind: "current" } : { kind: "stamp", version };
}

export interface FoundFormat {
  readonly directory: string;
  readonly record: FormatRecord | undefined;
  /** Whether there is no data in it. */
  readonly isEmpty: boolean;
  /** Copies that earlier upgrades have kept in it. */
  readonly kept: readonly string[];
}

function newerFormat({ directory, record, kept }: FoundFormat, format: DirectoryFormat): DiskError {
  const current = currentVersion(format);
  const ours = kept.filter((name) => keptVersion(name) === current).sort();
  const todo = "start that version again, or use another directory";
  const copy = ours.length === 0 ? "" : `; the data from before the upgrade is in ${directory}/${ours.at(-1)}`;
  return new DiskError(
    "unsupported",
    `${directory} is in format ${record?.version} of ${format.name}, written by a newer version of Interlock; ` +
      `this version reads formats up to ${current}: ${todo}${copy}`,
  );
}

/** The name of the copy that an upgrade keeps, such as kept-format-1-20261116T144410Z. */
export function keptName(version: number, wallMs: number): string {
  const time = new Date(wallMs).toISOString().replace(/[-:]|\.\d+/g, "");
  return `kept-format-${version}-${time}`;
}

function keptVersion(name: string): number {
  return Number(/^kept-format-(\d+)-/.exec(name)?.[1]);
}

/** Whether a file or directory belongs to upgrades, and not to the data. */
export function isUpgradeEntry(name: string): boolean {
  return name === formatFile || name === ownerFile || /^(?:format\.new|kept-format-|upgrade-to-format-)/.test(name);
}

export function isKept(name: string): boolean {
  return Number.isInteger(keptVersion(name));
}

export function formatText(format: DirectoryFormat, { version, replacing }: FormatRecord): string {
  return `${JSON.stringify({ format: `${format.name}/${version}`, ...(replacing && { replacing }) })}\n`;
}

/** Throws DiskError `damaged` for a file that is not one of ours. */
export function parseFormat(text: string, format: DirectoryFormat, path: string): FormatRecord {
  const data = parseJson(text);
  const [, name, version] = /^(.+)\/([1-9]\d*)$/.exec(String(data?.format)) ?? [];
  if (name === format.name && version !== undefined) {
    return { version: Number(version), ...(data?.replacing && { replacing: data.replacing }) };
  }
  throw new DiskError("damaged", `${path} does not name a version of ${format.name}; restore it from a backup`);
}

function parseJson(text: string): { readonly format?: unknown; readonly replacing?: Replacement } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
