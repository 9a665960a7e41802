import { isRecord } from "../json/json.ts";
import { writeJson } from "../json/write-json.ts";

/** A value as Go prints it with `%#v`: what the real server shows of list elements that occur twice. */
export function goMap(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goMap).join(", ")}}`;
  if (!isRecord(value)) return writeJson(value);
  const fields = Object.keys(value).sort();
  return `map[string]interface {}{${fields.map((name) => `${JSON.stringify(name)}:${goMap(value[name])}`).join(", ")}}`;
}
