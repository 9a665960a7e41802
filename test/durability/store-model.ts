import { expect } from "vitest";
import type { Entry, ObjectStore, WriteDecision } from "../../src/apiserver/object-store.ts";
import { KubeError } from "../../src/kube/index.ts";
import type { Dice } from "../chaos/dice.ts";

const resource = "things";
const namespace = "here";

/** The writes to a store, by all processes that opened it, and therefore its possible content. */
export class StoreModel {
  rejected = 0;
  readonly #story: string;
  /** Every change that was decided and not rejected, by revision. */
  #changes: { revision: number; name: string; json: string | undefined }[] = [];
  /** The newest revision that was visible to a reader. */
  #seen = 0;
  #struckUpTo = 0;

  constructor(story: string) {
    this.#story = story;
  }

  sawRevision(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
  }

  /** One random write, noted when it is decided, and struck out if it is rejected. */
  async write(store: ObjectStore, dice: Dice): Promise<void> {
    const name = `thing-${dice.whole(1, 6)}`;
    let given = 0;
    try {
      const answer = await store.write({ resource, namespace, name }, (current, revision) => {
        given = revision;
        return this.#decide(name, current, revision, dice);
      });
      expect(store.revision, `${this.#story}: an answer is durable`).toBeGreaterThanOrEqual(answer);
      this.sawRevision(answer);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      this.rejected++;
      this.#strikeOut(given, store.revision);
    }
  }

  /** Creates an object that no random write touches. */
  async create(store: ObjectStore, name: string): Promise<void> {
    await store.write({ resource, namespace, name }, (_, revision) => this.#note("put", name, revision, 10));
  }

  /** All writes that wait are rejected together; the first rejection removes them all, before the next write. */
  #strikeOut(given: number, durable: number) {
    if (given <= this.#struckUpTo) return;
    this.#struckUpTo = this.#changes.at(-1)?.revision ?? given;
    this.#changes = this.#changes.filter(({ revision }) => revision <= durable);
  }

  /** The store shows the state after one of the changes, and none older than what was seen. */
  check(store: ObjectStore): void {
    expect(store.revision, `${this.#story}: what was shown is kept`).toBeGreaterThanOrEqual(this.#seen);
    // Later changes were never visible; their revisions are free.
    this.#changes = this.#changes.filter(({ revision }) => revision <= store.revision);
    const expected = new Map<string, string>();
    for (const { name, json } of this.#changes) {
      if (json === undefined) expected.delete(name);
      else expected.set(name, json);
    }

    const entries = [...store.list(resource)];
    const found = new Map(entries.map((entry) => [entry.object.metadata.name as string, entry.json]));
    expect(found, this.#story).toEqual(expected);
    for (const { object, revision } of entries) expect(object.metadata.resourceVersion).toBe(String(revision));
    this.sawRevision(store.revision);
  }

  #decide(name: string, current: Entry | undefined, revision: number, dice: Dice): WriteDecision<number> {
    const known = this.#changes.findLast((change) => change.name === name);
    expect(current?.json, `${this.#story}: decisions see the newest state`).toBe(known?.json);
    expect(revision, `${this.#story}: no revision is used twice`).toBeGreaterThan(this.#seen);
    if (dice.chance(0.1)) return { do: "nothing", result: current?.revision ?? 0 };

    return this.#note(current && dice.chance(0.25) ? "delete" : "put", name, revision, dice.whole(0, 120));
  }

  #note(kind: "put" | "delete", name: string, revision: number, length: number): WriteDecision<number> {
    const object = { metadata: { name, namespace, resourceVersion: String(revision) }, text: "é".repeat(length) };
    const json = JSON.stringify(object);
    this.#changes.push({ revision, name, json: kind === "put" ? json : undefined });
    return { do: kind, object, json, result: revision };
  }
}
