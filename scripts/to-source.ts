/** The expression whose value is `value`: plain data and maps of it. Throws TypeError for anything else. */
export function toSource(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(toSource).join(",")}]`;
  if (value instanceof Map) return `new Map(${toSource([...value])})`;
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError(`${typeof value} is not plain data`);
  }
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}:${toSource(field)}`);
  return `{${fields.join(",")}}`;
}
