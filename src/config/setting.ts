import type { Kind } from "./kind.ts";

/** One setting: its notation, default and meaning. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** As a user would write it. Absent: not set. */
  readonly default?: string;
  /** Path of the setting whose value is the default of this one. */
  readonly sameAs?: string;
  /** Environment variable that overrides the file. */
  readonly env?: string;
  /** Its name in a file, where that is not section and field: `execution.backoff.base`. */
  readonly path?: string;
  /** Read by several stages, which have to agree: one policy file sets it for all of them. */
  readonly isPolicy?: true;
  /** One plain sentence for the documentation. */
  readonly about: string;
}

type SettingText<T> = Omit<Setting<T>, "kind">;

/** A setting that always has a value. */
export function setting<T>(
  kind: Kind<T>,
  text: SettingText<T> & ({ readonly default: string } | { readonly sameAs: string }),
): Setting<T> {
  return { kind, ...text };
}

/** A setting that may stay unset. */
export function optional<T>(kind: Kind<T>, text: SettingText<T>): Setting<T | undefined> {
  return { kind, ...text };
}
