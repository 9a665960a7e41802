import { describe, expect, it } from "vitest";
import { informer } from "../../src/kube/runtime/informer.ts";
import type { Mutation } from "../services/bundle.ts";
import { simulateInformer } from "./informer-sim.ts";
import { mutantInformer } from "./mutant.ts";

const faultKinds = [
  "delayed message",
  "request lost",
  "reply lost",
  "request duplicated",
  "pause",
  "watches dropped",
  "stream gone silent",
  "history compacted",
  "event repeated",
  "bookmark",
];

const mutants: Readonly<Record<string, Mutation>> = {
  "does not look at the uid": {
    file: "object-cache.ts",
    from: "if (known.object.metadata.uid !== object.metadata.uid) {",
    to: "if (false) {",
  },
  "forgets after a list what is missing from it, without saying so": {
    file: "object-cache.ts",
    from: "this.#drop(name, known, known.object);\n    }\n    for",
    to: "this.#entries.delete(name);\n    }\n    for",
  },
  "keeps after a list what is missing from it": {
    file: "object-cache.ts",
    from: "if (!present.has(name) && known.version <= version)",
    to: "if (false)",
  },
  "resumes from an older version": {
    file: "reflector.ts",
    from: "if (version <= this.#version) return;\n    this.#version = version;",
    to: "",
  },
  "resumes from a newer version": {
    file: "reflector.ts",
    from: "resourceVersion: String(this.#version)",
    to: "resourceVersion: String(this.#version + 1n)",
  },
  "ignores that a version is gone": {
    file: "reflector.ts",
    from: 'if (code === "gone" || code === "invalid")',
    to: 'if (code === "invalid")',
  },
  "does not notice a silent stream": {
    file: "reflector.ts",
    from: "new SilenceTimer(clock, silenceMs, drop)",
    to: "new SilenceTimer(clock, silenceMs, () => {})",
  },
  "takes in what it has seen before": {
    file: "reflector.ts",
    from: "if (version <= this.#version) return;",
    to: "",
  },
  "leaves an object under its old index keys": {
    file: "object-cache.ts",
    from: "unfile(index, before, entry);",
    to: "",
  },
};

describe("an informer behind a bad network", () => {
  it("reports only changes that happened and ends equal to the store, in seeds 1 to 2000", {
    timeout: 300_000,
  }, async () => {
    const faults = new Map<string, number>();
    const total = { steps: 0, writes: 0, delivered: 0, lists: 0, complete: 0 };
    const violations: string[] = [];
    for (let seed = 1; seed <= 2_000; seed++) {
      const result = await simulateInformer(seed, informer, faults);
      expect(result.steps).toBeGreaterThanOrEqual(200);
      if (result.violation) violations.push(`seed ${seed}: ${result.violation}`);
      total.steps += result.steps;
      total.writes += result.writes;
      total.delivered += result.delivered;
      total.lists += result.lists;
      if (result.lists === 1) total.complete++;
    }

    console.log("informer: 2000 seeds", total, Object.fromEntries(faults));
    expect(violations).toEqual([]);
    for (const kind of faultKinds) expect(faults.get(kind), kind).toBeGreaterThanOrEqual(100);
    expect(total.complete).toBeGreaterThanOrEqual(200);
  });

  it.each(Object.keys(mutants))("is found out when it %s", { timeout: 60_000 }, async (mistake) => {
    const mutant = await mutantInformer(mutants[mistake] as Mutation);

    let caughtBy: number | undefined;
    for (let seed = 1; seed <= 500 && caughtBy === undefined; seed++) {
      if ((await simulateInformer(seed, mutant)).violation) caughtBy = seed;
    }

    expect(caughtBy).toBeDefined();
  });
});
