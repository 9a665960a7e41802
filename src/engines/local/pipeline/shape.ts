/** A check of a value from a file: reports everything that is wrong with it, with the path where it stands. */
export type Shape = (value: unknown, path: string, report: Report) => void;

export type Report = (path: string, problem: string) => void;

interface Field {
  readonly shape: Shape;
  readonly required: boolean;
}

export function required(shape: Shape): Field {
  return { shape, required: true };
}

export function optional(shape: Shape): Field {
  return { shape, required: false };
}

/** An object with these fields. `advice` has a sentence for fields that people may expect to work. */
export function object(fields: Readonly<Record<string, Field>>, advice: Readonly<Record<string, string>> = {}): Shape {
  return (value, path, report) => {
    if (!isObject(value)) return report(path, "must be an object");
    for (const [name, field] of Object.entries(fields)) {
      if (isAbsent(value[name])) {
        if (field.required) report(join(path, name), "is missing");
      } else field.shape(value[name], join(path, name), report);
    }
    for (const name of Object.keys(value)) {
      if (name in fields || isAbsent(value[name])) continue;
      report(join(path, name), `is not supported by the local engine. ${advice[name] ?? "Remove it."}`);
    }
  };
}

export function list(of: Shape, { atLeast = 0 } = {}): Shape {
  return (value, path, report) => {
    if (!Array.isArray(value)) return report(path, "must be a list");
    if (value.length < atLeast) report(path, `must have ${atLeast === 1 ? "an item" : `${atLeast} items`}`);
    for (const [index, item] of value.entries()) of(item, `${path}[${index}]`, report);
  };
}

export const text: Shape = (value, path, report) => {
  if (typeof value !== "string") report(path, "must be text; put it in quotes");
};

/** Anything at all: it has no meaning here and does no harm. */
export const ignored: Shape = () => {};

export function matching(pattern: RegExp, rule: string): Shape {
  return (value, path, report) => {
    if (typeof value !== "string" || !pattern.test(value)) report(path, `must be ${rule}`);
  };
}

export function oneOf(...values: readonly string[]): Shape {
  return (value, path, report) => {
    if (!values.includes(value as string)) report(path, `must be ${values.join(" or ")}`);
  };
}

export function wholeNumber(greatest: number): Shape {
  return (value, path, report) => {
    if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > greatest) {
      report(path, `must be a whole number from 0 to ${greatest}`);
    }
  };
}

/** Text, or a list of texts. */
export const paramValue: Shape = (value, path, report) => {
  if (Array.isArray(value)) return list(text)(value, path, report);
  if (isObject(value)) return report(path, "is an object, which the local engine does not support. Use several params");
  text(value, path, report);
};

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field with nothing behind it counts as not written, as it does for an API server; Tekton adds some with `{}`. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}

function join(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}
