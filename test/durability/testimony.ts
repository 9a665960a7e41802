import { crc32 } from "node:zlib";
import type { Entry, ObjectStore } from "../../src/apiserver/object-store.ts";
import type { DiskError } from "../../src/disk/index.ts";

/** The acknowledged writes of all writers, and whether a store has them. */
export class Testimony {
  acknowledged = 0;
  readonly violations: string[] = [];
  /** The newest acknowledged change of each object. */
  readonly #last = new Map<string, { readonly revision: number; readonly isDelete: boolean }>();
  /** Objects whose deletion was asked for and not answered: they may be there or not. */
  readonly #deleting = new Set<string>();
  /** What was there when the store was last looked at; everything since has a higher revision. */
  #inspected = 0;
  #newest = 0;
  #lastSeen = 0;

  read(line: string): void {
    const [verb, ...words] = line.split(" ");
    switch (verb) {
      case "open":
        this.#lastSeen = Number(words[0]);
        if (this.#lastSeen < this.#newest) this.#object(`opened at ${this.#lastSeen}, but ${this.#newest} was shown`);
        return;
      case "deleting":
        this.#deleting.add(words[0] ?? "");
        return;
      case "put":
      case "deleted":
        return this.#acknowledge(words[0] ?? "", Number(words[1]), verb === "deleted");
      case "seen":
        return this.#see(Number(words[0]));
    }
  }

  /** Another process tried to open the store while it was in use. */
  hearOfIntrusion(refusal: DiskError | undefined, pid: number | undefined): void {
    if (!refusal) this.#object("a second process was let in");
    else if (!refusal.message.includes(`in use by pid ${pid} `)) this.#object(`refused, but: ${refusal.message}`);
  }

  /** Looks at every object. Returns how many there are. */
  compare(store: ObjectStore): number {
    if (store.revision < this.#newest) this.#object(`revision ${store.revision}, but ${this.#newest} was shown`);
    for (const [name, { revision, isDelete }] of this.#last) {
      const entry = store.get("things", "here", name);
      if (entry && entry.revision < revision) this.#object(`${name} is at ${entry.revision}, not at ${revision}`);
      if (entry && isDelete && entry.revision === revision) this.#object(`${name} is there, though deleted`);
      if (!entry && !isDelete && !this.#deleting.has(name)) this.#object(`${name} of ${revision} is lost`);
    }
    let count = 0;
    for (const entry of store.list("things")) {
      count++;
      if (!isWhole(entry)) this.#object(`torn: ${entry.json.slice(0, 200)}`);
    }
    this.#settle(store);
    return count;
  }

  #acknowledge(name: string, revision: number, isDelete: boolean) {
    this.acknowledged++;
    if (revision <= this.#inspected) this.#object(`revision ${revision} is given to ${name}, but was given before`);
    this.#last.set(name, { revision, isDelete });
    this.#deleting.delete(name);
    this.#newest = Math.max(this.#newest, revision);
  }

  #see(revision: number) {
    if (revision <= this.#lastSeen) this.#object(`watched ${revision} after ${this.#lastSeen}`);
    this.#lastSeen = revision;
    this.#newest = Math.max(this.#newest, revision);
  }

  /** What the store shows now was seen by us: from here on it counts like an acknowledgement. */
  #settle(store: ObjectStore) {
    this.#deleting.clear();
    this.#last.clear();
    for (const { object, revision } of store.list("things")) {
      this.#last.set(object.metadata.name as string, { revision, isDelete: false });
    }
    this.#inspected = store.revision;
    this.#newest = store.revision;
  }

  #object(violation: string) {
    this.violations.push(violation);
  }
}

function isWhole({ object, revision, json }: Entry): boolean {
  const { metadata, text, sum } = object as typeof object & { text: string; sum: number };
  const isConsistent = metadata.resourceVersion === String(revision) && JSON.stringify(object) === json;
  return isConsistent && sum === crc32(`${metadata.name} ${revision} ${text}`);
}
