import type { Redis } from "ioredis";

/** A section of INFO as key and value. */
export async function readInfo(io: Redis, section: string): Promise<ReadonlyMap<string, string>> {
  const text = await io.info(section);
  return new Map(text.split("\r\n").flatMap((line) => (line.includes(":") ? [splitOnce(line)] : [])));
}

/** A server setting, or undefined where we may not ask. */
export async function readSetting(io: Redis, name: string): Promise<string | undefined> {
  try {
    const reply = (await io.config("GET", name)) as unknown;
    return Array.isArray(reply) ? String(reply[1]) : undefined;
  } catch {
    return undefined;
  }
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, at), line.slice(at + 1)];
}
