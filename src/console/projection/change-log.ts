import { type RowKind, rowKinds } from "../wire.ts";

/** A row that changed. */
export interface RowRef {
  readonly kind: RowKind;
  readonly key: string;
}

/** How far the watch of one kind has come, in resourceVersions. */
interface Progress {
  /** All changes up to this version are known. */
  readonly reached: bigint;
  /** The version of the latest change; there is none between it and `reached`. */
  readonly latest: bigint;
}

/**
 * The latest changes, by the resourceVersion that caused them, so that a reader that was away gets what it missed.
 *
 * Each kind has a watch of its own, and one may be ahead of another: the version of the projection is the progress of each
 * watch. Its numbers are the server's, so that every replica understands them.
 */
export class ChangeLog {
  readonly #epoch: string;
  readonly #maxRows: number;
  readonly #progress = new Map<RowKind, Progress>();
  /** Changes up to this version are not known: they came before the first list, or were dropped. */
  readonly #floors = new Map<RowKind, bigint>();
  #changes: SourceChange[] = [];
  #rows = 0;

  /** `epoch` differs between servers, whose versions cannot be compared. Keeps changes of at most `maxRows` rows. */
  constructor(epoch: string, maxRows = 20_000) {
    this.#epoch = epoch;
    this.#maxRows = maxRows;
  }

  /** The version that has been reached, to be given back to `since`. */
  get version(): string {
    const numbers = rowKinds.map((kind) => {
      const { reached, latest } = this.#at(kind);
      return reached === latest ? `${reached}` : `${reached}_${latest}`;
    });
    return `${format}-${this.#epoch}-${numbers.join(".")}`;
  }

  /** Begins with a list of `source`, in which no object is newer than `latest`. */
  begin(source: RowKind, progress: Progress): void {
    this.#floors.set(source, progress.reached);
    this.#progress.set(source, progress);
  }

  hasBegun(source: RowKind): boolean {
    return this.#floors.has(source);
  }

  /** Adds the rows that changed with a version of `source`. */
  add(source: RowKind, version: bigint, rows: readonly RowRef[]): void {
    this.#progress.set(source, { reached: version, latest: version });
    this.#changes.push({ source, version, rows });
    this.#rows += rows.length;
    if (this.#rows > this.#maxRows) this.#dropOldest();
  }

  /** Notes that nothing of `source` changed up to `version`. */
  advance(source: RowKind, version: bigint): void {
    this.#progress.set(source, { reached: version, latest: this.#at(source).latest });
  }

  /**
   * Returns the rows that changed after `version`: "lost" if these are not known, and "ahead" if the version comes from a
   * replica that has seen changes which this one has not.
   */
  since(version: string): readonly RowRef[] | "lost" | "ahead" {
    const given = this.#parse(version);
    if (!given || given.some(({ kind, reached }) => reached < (this.#floors.get(kind) ?? 0n))) return "lost";
    if (given.some(({ kind, latest }) => latest > this.#at(kind).reached)) return "ahead";
    const reachedOf = new Map(given.map(({ kind, reached }) => [kind, reached]));
    const rows = new Map<string, RowRef>();
    for (const { source, version: at, rows: changed } of this.#changes) {
      if (at <= (reachedOf.get(source) ?? 0n)) continue;
      for (const row of changed) rows.set(`${row.kind} ${row.key}`, row);
    }
    return [...rows.values()];
  }

  #at(kind: RowKind): Progress {
    return this.#progress.get(kind) ?? { reached: 0n, latest: 0n };
  }

  /** Drops half of the changes, so that it need not be done at every change. */
  #dropOldest() {
    let kept = this.#rows;
    const end = this.#changes.findIndex(({ source, version, rows }) => {
      if (kept <= this.#maxRows / 2) return true;
      kept -= rows.length;
      this.#floors.set(source, version);
      return false;
    });
    this.#changes = end < 0 ? [] : this.#changes.slice(end);
    this.#rows = this.#changes.reduce((sum, { rows }) => sum + rows.length, 0);
  }

  #parse(text: string): readonly (Progress & { readonly kind: RowKind })[] | undefined {
    const [version, epoch, numbers = "", ...more] = text.split("-");
    const parts = numbers.split(".").map((part) => /^(\d{1,20})(?:_(\d{1,20}))?$/.exec(part));
    const isOurs = version === format && epoch === this.#epoch && more.length === 0;
    if (!isOurs || parts.length !== rowKinds.length || parts.includes(null)) return undefined;
    return rowKinds.map((kind, i) => {
      const [, reached = "0", latest = reached] = parts[i] ?? [];
      return { kind, reached: BigInt(reached), latest: BigInt(latest) };
    });
  }
}

interface SourceChange {
  readonly source: RowKind;
  readonly version: bigint;
  readonly rows: readonly RowRef[];
}

/** Of rows and versions. A page of an earlier program reads its rows again. */
const format = "1";
