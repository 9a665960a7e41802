import type { KubeObject } from "../../kube/index.ts";
import type { Change, ObjectKey, StoredEntry } from "../object-store.ts";

/**
 * Port: keeps long texts that are rarely read out of memory. It is no storage: its texts are in the log as well, and are
 * gone with the process. Reads are synchronous, because an object is read in the middle of a decision.
 */
export interface TextSpill {
  /** Undefined if the text is too short to be worth it, or there is no room: then it stays in memory. */
  put(text: string): SpilledText | undefined;
  close(): void;
}

export interface SpilledText {
  /** Throws KubeError `unavailable` if the text cannot be read back as it was. */
  read(): string;
  /** The text is not read any more. */
  free(): void;
}

/** Parses a JSON text into a deeply readonly object. */
export type Parse = (json: string) => KubeObject;

/**
 * An entry with its key. It holds the text alone, in memory or in a spill; the object is parsed when it is needed and
 * kept only as long as a caller uses it. Objects at rest take less than half of the memory that way.
 */
export class StoredObject implements StoredEntry {
  readonly key: ObjectKey;
  readonly revision: number;
  /** The length of `json`, without reading it. */
  readonly characters: number;
  readonly #parse: Parse;
  #text: string | SpilledText;
  #object: WeakRef<KubeObject> | undefined;

  /** `object` is what `json` stands for, if the caller has it already. */
  constructor(key: ObjectKey, revision: number, json: string, parse: Parse, object?: KubeObject) {
    this.key = key;
    this.revision = revision;
    this.characters = json.length;
    this.#text = json;
    this.#parse = parse;
    this.#object = object && new WeakRef(object);
  }

  get json(): string {
    return typeof this.#text === "string" ? this.#text : this.#text.read();
  }

  get object(): KubeObject {
    const known = this.#object?.deref();
    if (known) return known;
    const object = this.#parse(this.json);
    this.#object = new WeakRef(object);
    return object;
  }

  /** Moves the text out of memory, if the spill accepts it, until `unspill`. */
  spillTo(spill: TextSpill): void {
    if (typeof this.#text === "string") this.#text = spill.put(this.#text) ?? this.#text;
  }

  /** Moves the text back into memory, for readers that still have this object, and frees its place in the spill. */
  unspill(): void {
    if (typeof this.#text === "string") return;
    const spilled = this.#text;
    try {
      this.#text = spilled.read();
      spilled.free();
    } catch {
      // Readers get the error. A write that replaces the object must not fail because of it.
    }
  }
}

export interface StoredChange extends Change {
  readonly entry: StoredObject;
  readonly previous: StoredObject | undefined;
}
