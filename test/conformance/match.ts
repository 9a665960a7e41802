/** Where an answer differs from the recorded one. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** How `actual` differs from `expected`, which may hold matchers like `{"$any": "uid"}`. Empty when it matches. */
export function match(expected: unknown, actual: unknown, at = ""): Difference[] {
  if (isMatcher(expected)) return matchSpecial(expected, actual, at);
  if (Array.isArray(expected))
    return Array.isArray(actual) ? matchLists(expected, actual, at) : [differs(at, expected, actual)];
  if (isFields(expected)) return isFields(actual) ? matchFields(expected, actual, at) : [differs(at, expected, actual)];
  return expected === actual ? [] : [differs(at, expected, actual)];
}

function matchLists(expected: readonly unknown[], actual: readonly unknown[], at: string): Difference[] {
  const length = Math.max(expected.length, actual.length);
  return Array.from({ length }, (_, i) => i).flatMap((i) => {
    if (i >= actual.length) return [differs(`${at}/${i}`, expected[i], undefined)];
    return i >= expected.length
      ? [differs(`${at}/${i}`, "(absent)", actual[i])]
      : match(expected[i], actual[i], `${at}/${i}`);
  });
}

function matchFields(expected: Fields, actual: Fields, at: string): Difference[] {
  const wanted = Object.entries(expected).flatMap(([name, value]) => {
    const mayMiss = isMatcher(value) && ("$optional" in value || "$absent" in value);
    if (!(name in actual) && !mayMiss) return [differs(`${at}/${name}`, value, undefined)];
    return match(value, actual[name], `${at}/${name}`);
  });
  const extra = Object.keys(actual).filter((name) => !(name in expected));
  return [...wanted, ...extra.map((name) => differs(`${at}/${name}`, "(absent)", actual[name]))];
}

const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  uid: shaped(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  resourceVersion: shaped(/^[1-9][0-9]*$/),
  timestamp: shaped(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  microTime: shaped(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  age: shaped(/^(?=.)(\d+y)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?$/),
  string: shaped(/./s),
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  object: isFields,
  array: Array.isArray,
  value: (value) => value !== undefined,
};

function shaped(shape: RegExp) {
  return (value: unknown) => typeof value === "string" && shape.test(value);
}

function matchSpecial(matcher: Fields, actual: unknown, at: string): Difference[] {
  const [[name, value]] = Object.entries(matcher) as [[string, unknown]];
  const unless = (fits: boolean) => (fits ? [] : [differs(at, matcher, actual)]);
  switch (name) {
    case "$any":
      return unless(kinds[value as string]?.(actual) ?? false);
    case "$greaterThan":
      return unless(isVersion(actual) && BigInt(actual) > BigInt(value as string));
    case "$atLeast":
      return unless(isVersion(actual) && BigInt(actual) >= BigInt(value as string));
    case "$notEqual":
      return unless(actual !== undefined && match(value, actual, at).length > 0);
    case "$regex":
      return unless(typeof actual === "string" && new RegExp(value as string, "s").test(actual));
    case "$oneOf":
      return unless((value as unknown[]).some((one) => match(one, actual, at).length === 0));
    case "$optional":
      return actual === undefined ? [] : match(value, actual, at);
    case "$absent":
      return unless(actual === undefined);
    case "$subset":
      if (!isFields(actual)) return [differs(at, matcher, actual)];
      return Object.entries(value as Fields).flatMap(([field, one]) => match(one, actual[field], `${at}/${field}`));
    case "$contains":
      return Array.isArray(actual) ? missing(value as unknown[], actual, at) : [differs(at, matcher, actual)];
    case "$unordered": {
      if (!Array.isArray(actual) || actual.length !== (value as unknown[]).length)
        return [differs(at, matcher, actual)];
      return missing(value as unknown[], actual, at);
    }
    default:
      throw new TypeError(`unknown matcher ${name}`);
  }
}

/** Elements that no element of `actual` matches; each of those is used once. */
function missing(expected: readonly unknown[], actual: readonly unknown[], at: string): Difference[] {
  const left = [...actual];
  return expected.flatMap((one) => {
    const found = left.findIndex((other) => match(one, other, at).length === 0);
    if (found < 0) return [differs(`${at}/(element)`, one, undefined)];
    left.splice(found, 1);
    return [];
  });
}

function isMatcher(value: unknown): value is Fields {
  return isFields(value) && Object.keys(value).some((key) => /^\$[A-Za-z]+$/.test(key));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isVersion(value: unknown): value is string {
  return typeof value === "string" && /^\d+$/.test(value);
}

function differs(path: string, expected: unknown, actual: unknown): Difference {
  return { path: path || "/", expected, actual: actual === undefined ? "(absent)" : actual };
}
