const shapes: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  duration: /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d|w)\s*)+$|^0$/,
  email: /^[^\s@]+@[^\s@]+$/,
  ipv4: /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/,
};

/** The name of the format that `value` misses; undefined if it fits, or if the format is one that nobody checks. */
export function formatProblem(value: string, format: string): string | undefined {
  const shape = Object.hasOwn(shapes, format) ? shapes[format] : undefined;
  if (!shape) return undefined;
  const isTime = format === "date-time" || format === "date";
  return shape.test(value) && !(isTime && Number.isNaN(Date.parse(value))) ? undefined : format;
}
