/**
 * JSON data as YAML, one entry per line of the document. Strings that are not plain words are written as JSON strings, which
 * are YAML too: so a control character in one is escaped in a way that a YAML parser reads back, whatever prints the line.
 */
export function yamlLines(data: unknown): readonly string[] {
  if (Array.isArray(data)) return data.length === 0 ? ["[]"] : data.flatMap(itemLines);
  if (typeof data !== "object" || data === null) return [scalar(data)];
  const fields = Object.entries(data).filter(([, value]) => value !== undefined);
  return fields.length === 0 ? ["{}"] : fields.flatMap(([name, value]) => fieldLines(name, value));
}

function itemLines(item: unknown): readonly string[] {
  const [first = "", ...rest] = yamlLines(item);
  return [`- ${first}`, ...rest.map(indented)];
}

function fieldLines(name: string, value: unknown): readonly string[] {
  const lines = yamlLines(value);
  if (!isBlock(value)) return [`${scalar(name)}: ${lines[0]}`];
  return [`${scalar(name)}:`, ...(Array.isArray(value) ? lines : lines.map(indented))];
}

/** Whether a value takes lines of its own. */
function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function indented(line: string): string {
  return `  ${line}`;
}

/** Words that no version of YAML reads as anything but text. Some parsers read an exponent without digits before it as a number. */
const plain = /^(?!(?:true|false|yes|no|on|off|null|y|n|e-?\d+)$)[a-z_][\w./-]*(?: [\w./-]+)*$/i;

function scalar(value: unknown): string {
  return typeof value === "string" && plain.test(value) ? value : JSON.stringify(value);
}
