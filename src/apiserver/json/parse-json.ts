import { isJsonDeeper, type KubeObject } from "../../kube/index.ts";
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

/** Copies a part of a string. The engine may keep a long part as a reference to the whole string. */
function copyText(part: string): string {
  return part.length < minReferenceLength ? part : (JSON.parse(JSON.stringify(part)) as string);
}

const minReferenceLength = 13;

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
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#object();
      case 0x5b:
        return this.#array();
      case 0x22:
        return this.#string();
      case 0x74:
        return this.#word("true", true);
      case 0x66:
        return this.#word("false", false);
      case 0x6e:
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(): Draft {
    const result: Draft = {};
    this.#enter();
    if (this.#closes(0x7d)) return this.#leave(result);

    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== 0x22)
        throw this.#unexpected("looking for beginning of object key string");
      const key = this.#string();
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#at) !== 0x3a) throw this.#unexpected("after object key");
      this.#at++;
      this.#skipSpace();
      this.#path.push(key);
      if (key === "__proto__") throw new JsonSyntaxError(`field ${this.#where()} has a name that is not supported`);
      if (Object.hasOwn(result, key)) this.duplicates.push(this.#where());
      result[key] = this.#value();
      this.#path.pop();
      this.#skipSpace();
      if (this.#closes(0x7d)) return this.#leave(result);
      this.#comma("after object key:value pair");
    }
  }

  #array(): unknown[] {
    const result: unknown[] = [];
    this.#enter();
    if (this.#closes(0x5d)) return this.#leave(result);

    for (;;) {
      this.#path.push(result.length);
      result.push(this.#value());
      this.#path.pop();
      this.#skipSpace();
      if (this.#closes(0x5d)) return this.#leave(result);
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

  #closes(bracket: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== bracket) return false;
    this.#at++;
    return true;
  }

  #comma(where: string) {
    if (this.#text.charCodeAt(this.#at) !== 0x2c) throw this.#unexpected(where);
    this.#at++;
    this.#skipSpace();
  }

  #string(): string {
    const start = this.#at + 1;
    for (let at = start; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) {
        this.#at = at + 1;
        return copyText(this.#text.slice(start, at));
      }
      if (code === 0x5c || code < 0x20) return this.#escapedString(at);
    }
    throw this.#end();
  }

  /** Finds the end of a string with escapes, and leaves their meaning to the built-in parser. */
  #escapedString(from: number): string {
    const start = this.#at;
    for (let at = from; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x5c) at++;
      else if (code === 0x22) {
        this.#at = at + 1;
        return this.#builtIn(this.#text.slice(start, at + 1)) as string;
      } else if (code < 0x20) {
        this.#at = at;
        throw this.#unexpected("in string literal");
      }
    }
    throw this.#end();
  }

  #builtIn(literal: string): unknown {
    try {
      return JSON.parse(literal);
    } catch {
      throw new JsonSyntaxError(`invalid string literal at offset ${this.#at - literal.length}`);
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
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
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
