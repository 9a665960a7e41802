import { endOfString, isJsonDeeper, type KubeObject } from "../../kube/index.ts";
import { type Draft, deepFreeze } from "./json.ts";

/** The text is not valid JSON, or exceeds a limit. The message has position and reason. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

export interface Parsed {
  readonly value: unknown;
  /** Paths like `spec.size` of fields that were given twice; the last one counts. */
  readonly duplicates: readonly string[];
}

/** Deeper than any real schema or object. The parser recurses, so there has to be a limit. */
const maxDepth = 400;

/**
 * Reads JSON without losing digits of an int64, and records duplicate fields. The result shares no memory
 * with `text`: a small object outlives the large body that it came in.
 */
export function parseJson(text: string): Parsed {
  const value = parsePlain(text);
  if (value !== undefined) return { value, duplicates: [] };
  const reader = new JsonReader(text);
  return { value: reader.document(), duplicates: reader.duplicates };
}

/**
 * Parses a text that the built-in writer would write in the same way, as most programs send it: then no field occurs twice and
 * no digit is lost, and the built-in parser is several times faster. Undefined for any other text.
 */
function parsePlain(text: string): unknown {
  if (text.includes("__proto__") || isJsonDeeper(text, maxDepth)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    // Our own reader reports the error.
    return undefined;
  }
}

/** Parses one text: its state is a position in the text, and the path from the root to there. */
class JsonReader {
  readonly duplicates: string[] = [];
  readonly #text: string;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    this.#skipSpace();
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected("after top-level value");
    return value;
  }

  #value(): unknown {
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(): Draft {
    const result: Draft = {};
    this.#enter();
    if (this.#closes("}")) return this.#leave(result);

    for (;;) {
      if (this.#text[this.#at] !== '"') throw this.#unexpected("looking for beginning of object key string");
      const key = this.#string();
      this.#skipSpace();
      if (this.#text[this.#at] !== ":") throw this.#unexpected("after object key");
      this.#at++;
      this.#skipSpace();
      this.#path.push(key);
      if (key === "__proto__") throw new JsonSyntaxError(`field ${this.#where()} has a name that is not supported`);
      if (Object.hasOwn(result, key)) this.duplicates.push(this.#where());
      result[key] = this.#value();
      this.#path.pop();
      this.#skipSpace();
      if (this.#closes("}")) return this.#leave(result);
      this.#comma("after object key:value pair");
    }
  }

  #array(): unknown[] {
    const result: unknown[] = [];
    this.#enter();
    if (this.#closes("]")) return this.#leave(result);

    for (;;) {
      this.#path.push(result.length);
      result.push(this.#value());
      this.#path.pop();
      this.#skipSpace();
      if (this.#closes("]")) return this.#leave(result);
      this.#comma("after array element");
    }
  }

  #depth = 0;

  #enter() {
    if (++this.#depth > maxDepth) throw new JsonSyntaxError(`exceeded max depth of ${maxDepth}`);
    this.#at++;
    this.#skipSpace();
  }

  #leave<T>(result: T): T {
    this.#depth--;
    return result;
  }

  #closes(bracket: string): boolean {
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  #comma(where: string) {
    if (this.#text[this.#at] !== ",") throw this.#unexpected(where);
    this.#at++;
    this.#skipSpace();
  }

  #string(): string {
    const start = this.#at;
    const end = endOfString(this.#text, start + 1);
    if (end < 0) throw this.#end();
    this.#at = end + 1;
    const literal = this.#text.slice(start, this.#at);
    try {
      // Parsing also copies: a long part of a string may be kept as a reference to the whole string.
      return JSON.parse(literal) as string;
    } catch {
      const control = [...literal].find((character) => character < " ");
      if (control) throw new JsonSyntaxError(`invalid character '${control}' in string literal`);
      throw new JsonSyntaxError(`invalid string literal at offset ${start}`);
    }
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected("looking for beginning of value");
    this.#at += word.length;
    return value;
  }

  #number(): number | bigint {
    numberAt.lastIndex = this.#at;
    const [literal] = numberAt.exec(this.#text) ?? [];
    if (literal === undefined) {
      throw this.#at >= this.#text.length ? this.#end() : this.#unexpected("looking for beginning of value");
    }
    this.#at += literal.length;
    return parseNumber(literal);
  }

  #skipSpace() {
    while (" \n\r\t".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #where(): string {
    let where = "";
    for (const step of this.#path) {
      if (typeof step === "number") where += `[${step}]`;
      else where += where ? `.${step}` : step;
    }
    return where;
  }

  #unexpected(where: string): JsonSyntaxError {
    if (this.#at >= this.#text.length) return this.#end();
    return new JsonSyntaxError(`invalid character '${this.#text[this.#at]}' ${where}`);
  }

  #end(): JsonSyntaxError {
    return new JsonSyntaxError("unexpected end of JSON input");
  }
}

const numberAt = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** A number, or a bigint for an int64 that a number cannot hold. What fits neither becomes the nearest number. */
function parseNumber(literal: string): number | bigint {
  const number = Number(literal);
  if (Number.isSafeInteger(number) || !/^-?\d+$/.test(literal)) return number === 0 ? 0 : number;
  const exact = BigInt(literal);
  return BigInt.asIntN(64, exact) === exact ? exact : number;
}

/** Parses a stored object into a deeply frozen one, with all digits of its numbers. */
export function freezeJson(text: string): KubeObject {
  // Fewer digits than this always fit a number, and the built-in parser is the faster one.
  const value: unknown = /\d{16}/.test(text) ? parseJson(text).value : JSON.parse(text);
  return deepFreeze(value) as KubeObject;
}
