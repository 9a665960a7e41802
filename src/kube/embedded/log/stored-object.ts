import type { KubeObject } from "../../object.ts";
import type { Entry, ObjectKey } from "../object-store.ts";

/** Makes the deeply readonly object of a JSON text. */
export type Parse = (json: string) => KubeObject;

/**
 * An entry that knows its key. Read from disk, it is parsed when somebody asks for the object: 100,000 objects would
 * otherwise make every start wait seconds for what is mostly never looked at, and take the memory of it.
 */
export class StoredObject implements Entry {
  readonly key: ObjectKey;
  readonly json: string;
  readonly revision: number;
  #object: KubeObject | Parse;

  constructor(key: ObjectKey, revision: number, json: string, object: KubeObject | Parse) {
    this.key = key;
    this.revision = revision;
    this.json = json;
    this.#object = object;
  }

  get object(): KubeObject {
    if (typeof this.#object === "function") this.#object = this.#object(this.json);
    return this.#object;
  }
}
